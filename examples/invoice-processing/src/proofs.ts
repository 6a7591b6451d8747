import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LineclearClient } from '@lineclear/client';
import { allDecisions } from '../check/decisions.js';
import type { Expected } from '../check/expected.js';
import { judgeLedger, type LedgerVerdict } from '../check/judge-ledger.js';
import { readLedger } from '../check/ledger.js';
import type { Batch } from './batch.js';
import { hasEnded } from './batch-run.js';
import type { TrackedTask } from './tasks.js';

/** One claim of the platform with what was counted and the command that counts it again. */
export interface Proof {
  readonly claim: string;
  /** undefined: not compared, as the batch did not end as expected or people decided it */
  readonly holds: boolean | undefined;
  readonly seen: string;
  readonly command: string;
}

export interface Evidence {
  readonly proofs: readonly Proof[];
  readonly ledger: LedgerVerdict;
}

const ARCHIVED_WITHIN_MS = 10_000;
const ASK_AGAIN_MS = 200;
const CHECK = 'node examples/invoice-processing/dist/check/main.js';

export const ledgerFile = (home: string, batch: Batch): string => join(home, 'erp', `${batch.tenant}.jsonl`);

/** Collects the evidence from outside: the ERP's ledger, the decisions, the replays and the audit chain. `whole`: every run of the batch ended as expected, without a person, and no file was added to the inbox. */
export async function collectEvidence(
  context: {
    readonly home: string;
    readonly batch: Batch;
    readonly client: LineclearClient;
    readonly expected: Expected;
    readonly whole: boolean;
  },
  tasks: readonly TrackedTask[],
): Promise<Evidence> {
  const { client, home, batch, expected, whole } = context;
  const decisions = await allDecisions(client);
  const ledger = judgeLedger(await readLedger(ledgerFile(home, batch)), decisions, whole ? expected : undefined);
  const unknown = (await client.unknownCalls()).items;
  const ended = tasks.filter(hasEnded);
  const replays = await Promise.all(ended.map(({ runId }) => replaysIdentically(client, runId ?? '')));
  const different = ended.filter((_, index) => replays[index] !== true).map(({ runId }) => runId);
  const audit = await client.verifyAudit();
  const denied = decisions.filter(({ verdict }) => verdict === 'denied').length;
  const refused = tasks.filter(({ refusal }) => refusal !== null).length;
  const proofs: Proof[] = [
    {
      claim: 'every effect was authorized, and none happened twice',
      holds: ledger.withoutDecision.length === 0 && ledger.twice.length === 0,
      seen: `${ledger.effects} effects = ${ledger.distinctKeys} keys, ${ledger.withoutDecision.length} without a decision, ${ledger.twice.length} twice`,
      command: CHECK,
    },
    {
      claim: 'the ERP holds what it should and nothing else',
      holds: whole ? ledger.missing.length === 0 && ledger.unexpected.length === 0 : undefined,
      seen: whole
        ? `${ledger.postings} postings, missing: ${list(ledger.missing)}, unexpected: ${list(ledger.unexpected)}`
        : `${ledger.postings} postings; compared when every run ends as expected without a person, and no file was added`,
      command: CHECK,
    },
    {
      claim: 'what must not be was refused',
      holds: true,
      seen: `${refused} tasks refused, ${denied} calls denied by policy`,
      command: 'lineclear runs list; lineclear events tail',
    },
    {
      claim: 'no outcome is unknown',
      holds: unknown.length === 0,
      seen: `${unknown.length} unknown calls`,
      command: 'lineclear calls unknown',
    },
    {
      claim: 'every run replays identically',
      holds: different.length === 0,
      seen: `${ended.length - different.length} of ${ended.length} identical${different.length > 0 ? `, different: ${different.join(', ')}` : ''}`,
      command: 'lineclear replay RUN',
    },
    {
      claim: 'the audit chain is whole',
      holds: audit.whole,
      seen: `${audit.records} records`,
      command: 'lineclear audit verify',
    },
  ];
  return { proofs, ledger };
}

/** Right after a run's end the archive may lack what other services said of it: a difference counts when it stays. */
async function replaysIdentically(client: LineclearClient, runId: string): Promise<boolean> {
  const until = performance.now() + ARCHIVED_WITHIN_MS;
  for (;;) {
    if ((await client.replay(runId)).identical) return true;
    if (performance.now() >= until) return false;
    await pause(ASK_AGAIN_MS);
  }
}

const list = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(', '));
