import { Controller, Inject } from '@nestjs/common';
import { LOGGER } from '@lineclear/host';
import { type EventInput, Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { type Decision, isTerminal, type RunInput, type RunInputEventName, RUN_TIMERS } from '@lineclear/run';
import type { Logger } from '@lineclear/telemetry';
import { handleRunInputs } from '../../application/handle-run-inputs.js';
import { CANCEL, MODEL_CALL, SUBMIT_TASK } from '../../application/names.js';
import { OpenModelCalls } from '../../application/open-model-calls.js';
import type { StoredRun } from '../../application/stored-run.js';
import { taskInputOf } from '../../application/task-input.js';
import type { Aggregate } from '../../application/write-decision.js';
import { ORCHESTRATOR_CONFIG, type OrchestratorConfig } from '../../config.js';
import { RUN_STORE } from '../postgres/run-store.js';

const EVENTS: readonly RunInputEventName[] = [
  'toolset.resolved',
  'memory.recalled',
  'tool-call.denied',
  'tool-call.referred',
  'tool-call.authorized',
  'approval.granted',
  'approval.denied',
  'approval.expired',
  'approval.withdrawn',
  'tool-call.completed',
  'tool-call.resolved',
  'run.fenced',
];

/** What a run in stopping takes although an earlier message of it is held: it must be able to end. */
const ENDS_STOPPING: readonly string[] = ['run.fenced', 'tool-call.completed'];

/** Everything that can happen to a run, through one handler, so that the inputs of a run keep their order whatever their kind. */
@Controller()
export class RunConsumer {
  constructor(
    @Inject(ORCHESTRATOR_CONFIG) private readonly config: OrchestratorConfig,
    private readonly openModelCalls: OpenModelCalls,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  @Handles(
    {
      events: EVENTS,
      commands: [SUBMIT_TASK, CANCEL],
      timers: RUN_TIMERS,
      jobs: [MODEL_CALL],
      dropped: EVENTS,
      passesHeld: endsStopping,
    },
    { batch: true },
  )
  async handleRunInputs(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await handleRunInputs(inputs, batch, {
      taskInput: (command, at) => taskInputOf(command, at, this.config),
      decided: (run, input, decision, after) => this.decided(run, input, decision, after),
    });
  }

  private decided({ runId }: Aggregate, input: RunInput, decision: Decision, after: StoredRun | undefined): void {
    const { remark } = decision;
    if (remark?.kind === 'violation')
      this.log.warn({ runId, input: input.id, what: remark.what }, 'an input was refused');
    if (after && decision.plan.some((item) => item.do === 'start-model-call')) this.openModelCalls.put(after);
    else if (after && isTerminal(after.state.stage)) this.openModelCalls.drop(runId);
  }
}

async function endsStopping(input: EventInput, batch: Pick<LaneBatch, 'load' | 'state'>): Promise<boolean> {
  if (!ENDS_STOPPING.includes(input.name)) return false;
  await batch.load(RUN_STORE, [input.key]);
  return batch.state(RUN_STORE, input.key)?.state.stage === 'stopping';
}
