/** CAUTION: persisted in mailbox rows. */
export const SUBMIT_TASK = 'submit-task';
export const CANCEL = 'cancel-run';

/** CAUTION: persisted in job rows. */
export const MODEL_CALL = 'model-call';

export interface CancelPayload {
  readonly reason?: string;
}

/** The whole payload of a model job: the request is built from the run's state when the job runs. */
export interface ModelCallPayload {
  readonly runId: string;
  readonly step: number;
  readonly attempt: number;
}
