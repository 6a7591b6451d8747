import { idempotencyKeyOf } from '@lineclear/contracts';
import type {
  CommandInput,
  DispatchInput,
  DroppedInput,
  EventInput,
  JobInput,
  LaneBatch,
  LaneInput,
  TimerInput,
} from '@lineclear/messaging';
import { type ClaimKey, claimKeyText, loadClaims } from '../adapters/postgres/business-claims.js';
import { type Catalogue, type CatalogueReader, NO_CATALOGUE } from '../adapters/postgres/catalogue-reader.js';
import { loadEffects, loadRunningJobs, RUN_EFFECTS } from '../adapters/postgres/run-effects-store.js';
import type { PolicyKeys } from '../adapters/keys/policy-keys.js';
import { isOpen, type Permit } from '../domain/effect.js';
import { mayBeOlder, NO_EFFECTS, type RunEffects } from '../domain/run-effects.js';
import type { AttemptEnd } from '../domain/settle.js';
import { type ClaimsVerdict, verifyClaims } from '../domain/verify-claims.js';
import { type PendingToolset, type ResolveCall, TOOLSET_TIMER, type ToolCallJob } from './run-commands.js';
import { RunWriter } from './run-writer.js';
import { takeDispatch, takeQuietTimer, takeResult } from './take-attempt.js';
import { type AuthorizationContext, takeAuthorization, takeDropped } from './take-authorization.js';
import { takeResolution } from './take-resolution.js';
import { takeStop } from './take-stop.js';
import { answerDroppedStart, answerToolset, takeStart, type Toolsets, type ToolsetContext } from './take-toolset.js';

export interface RunDesk {
  readonly keys: PolicyKeys;
  readonly catalogue: CatalogueReader;
  readonly toolsets: Toolsets;
  /** names of tools.yaml */
  readonly servers: readonly string[];
}

type Authorized = EventInput<'tool-call.authorized'>;

const isAuthorized = (input: LaneInput): input is Authorized =>
  input.kind === 'event' && input.name === 'tool-call.authorized';
const isStop = (input: LaneInput): input is EventInput<'run.stop-started'> =>
  input.kind === 'event' && input.name === 'run.stop-started';

/** The end of an attempt is settled by what the ledger and the executor say. */
const needsCatalogue = ({ kind }: LaneInput): boolean => kind !== 'job';

/** Every input of a run in its order: load for all, then decide one by one. */
export async function handleRuns(inputs: readonly LaneInput[], batch: LaneBatch, desk: RunDesk): Promise<void> {
  const catalogue = inputs.some(needsCatalogue) ? await desk.catalogue.read(batch) : NO_CATALOGUE;
  await batch.load(RUN_EFFECTS, [...new Set(inputs.map(({ key }) => key))]);
  const authorized = inputs.filter(isAuthorized);
  const verdicts = await verifyAll(authorized, batch, desk, catalogue);
  const context = await readContext(inputs, batch, { catalogue, verdicts });
  for (const input of inputs) {
    if (isAuthorized(input) && !verdicts.has(input)) continue;
    batch.attempt(input, (writes) => {
      const state = batch.state(RUN_EFFECTS, input.key) ?? NO_EFFECTS;
      const run = new RunWriter(writes, input.key, tenantOf(input, state), batch.now, state);
      decide(run, input, { ...context, toolsets: desk.toolsets, servers: desk.servers });
    });
  }
}

interface BatchContext extends AuthorizationContext, ToolsetContext {
  readonly verdicts: ReadonlyMap<LaneInput, ClaimsVerdict>;
  readonly running: ReadonlyMap<string, number>;
}

function decide(run: RunWriter, input: LaneInput, context: BatchContext): void {
  switch (input.kind) {
    case 'job':
      return takeResult(run, input as JobInput<ToolCallJob, AttemptEnd>);
    case 'dispatch':
      return takeDispatch(run, input as DispatchInput<ToolCallJob>, context.catalogue);
    case 'command':
      return takeResolution(run, input as CommandInput<ResolveCall>, context.older);
    case 'timer':
      return input.name === TOOLSET_TIMER
        ? answerToolset(run, (input as TimerInput<PendingToolset>).payload, context)
        : takeQuietTimer(run);
    case 'dropped':
      return input.name === 'run.started'
        ? answerDroppedStart(run)
        : takeDropped(run, input as DroppedInput<'tool-call.authorized'>, context.older);
    case 'event':
      return decideEvent(run, input, context);
  }
}

function decideEvent(run: RunWriter, input: EventInput, context: BatchContext): void {
  if (isStop(input)) return takeStop(run, input, context.running);
  if (!isAuthorized(input)) return takeStart(run, input as EventInput<'run.started'>, context);
  const verdict = context.verdicts.get(input);
  if (verdict !== undefined) takeAuthorization(run, input, verdict, context);
}

/** Verifies the signatures of a batch. An input whose keys cannot be read now is taken out, and comes again. */
async function verifyAll(
  authorized: readonly Authorized[],
  batch: LaneBatch,
  desk: RunDesk,
  catalogue: Catalogue,
): Promise<ReadonlyMap<LaneInput, ClaimsVerdict>> {
  const verdicts = new Map<LaneInput, ClaimsVerdict>();
  await Promise.all(
    authorized.map(async (input) => {
      try {
        verdicts.set(input, await verdictOn(input, batch, desk, catalogue));
      } catch (error) {
        batch.fail(input, error);
      }
    }),
  );
  return verdicts;
}

async function verdictOn(
  input: Authorized,
  batch: LaneBatch,
  { keys }: RunDesk,
  catalogue: Catalogue,
): Promise<ClaimsVerdict> {
  const { data, tenant } = input.event;
  const signature = await keys.verify(data.jws);
  if (!signature.valid) return signature;
  const known = batch.state(RUN_EFFECTS, input.key)?.tenant;
  return verifyClaims(signature.payload, {
    runId: input.key,
    tenants: known === undefined || known === null ? [tenant] : [tenant, known],
    data,
    businessKey: catalogue.tools.get(data.tool)?.traits.businessKey,
  });
}

interface Gathered {
  readonly catalogue: Catalogue;
  readonly verdicts: ReadonlyMap<LaneInput, ClaimsVerdict>;
}

async function readContext(inputs: readonly LaneInput[], batch: LaneBatch, { catalogue, verdicts }: Gathered) {
  const { read } = batch;
  const runOf = (key: string): RunEffects => batch.state(RUN_EFFECTS, key) ?? NO_EFFECTS;
  const older = await loadEffects(
    read,
    inputs.flatMap((input) => olderCall(input, runOf(input.key))),
  );
  const open = inputs.filter(isStop).flatMap(({ key }) => [...runOf(key).calls.values()].filter(isOpen));
  const running = await loadRunningJobs(
    read,
    open.map(({ callId }) => idempotencyKeyOf(callId)),
  );
  const claims = await loadClaims(
    read,
    [...verdicts.values()].flatMap((verdict) => (verdict.valid ? claimKeyOf(verdict.permit) : [])),
  );
  const claimOf = (permit: Permit) => claimKeyOf(permit).map((key) => claims.get(claimKeyText(key)))[0];
  return { catalogue, verdicts, older, running, claimOf };
}

/** The call that an input names, where the ledger may know it and the run has it no longer in mind. */
function olderCall(input: LaneInput, run: RunEffects): string[] {
  if (input.kind === 'command') {
    const { callId } = (input as CommandInput<ResolveCall>).payload;
    return run.calls.has(callId) ? [] : [callId];
  }
  if (!isAuthorized(input) && !(input.kind === 'dropped' && input.name === 'tool-call.authorized')) return [];
  const data = (input as Authorized | DroppedInput<'tool-call.authorized'>).event.data;
  return mayBeOlder(run, data) ? [data.callId] : [];
}

function claimKeyOf({ tenant, tool, businessKey }: Permit): ClaimKey[] {
  return businessKey === null ? [] : [{ tenant, tool, businessKey }];
}

/** Of the event; where there is none, of the run. */
function tenantOf(input: LaneInput, run: RunEffects): string {
  if (input.kind === 'event' || input.kind === 'dropped') return input.event.tenant;
  if (input.kind === 'command') return input.tenant;
  const payload = input.payload as Partial<ToolCallJob> | null;
  return run.tenant ?? payload?.tenant ?? [...run.calls.values()][0]?.tenant ?? '';
}
