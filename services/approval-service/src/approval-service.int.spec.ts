import { approvalIdOf, type EventData } from '@lineclear/contracts';
import { type Caller, type HostedService, startHosted } from '@lineclear/host/testing';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalService } from './approval-service.js';
import type { ApprovalView } from './application/approval-view.js';
import { ARGUMENTS, FRIEDA, referral } from './testing/mothers.js';

const GRETA: Caller = { ...FRIEDA, subject: 'greta' };
const HOUR_MS = 3_600_000;

let runs = 0;
const newRun = () => `run_${String((runs += 1)).padStart(24, '0')}`;

describe('the approval service', () => {
  let hosted: HostedService;

  beforeAll(async () => {
    hosted = await startHosted(approvalService, { database: await (await testDatabase()).createDatabase() });
  });

  afterAll(async () => {
    await hosted.stop();
  });

  const refer = async (runId: string, change: Partial<EventData<'tool-call.referred'>> = {}, id?: string) => {
    const data = referral(runId, { expiresAt: new Date(Date.now() + HOUR_MS).toISOString(), ...change });
    await hosted.world.publish(
      { name: 'tool-call.referred', key: runId, tenant: 'acme', data },
      id === undefined ? {} : { id },
    );
    return approvalIdOf(data.callId, data.round);
  };
  const stop = (runId: string) =>
    hosted.world.publish({
      name: 'run.stop-started',
      key: runId,
      tenant: 'acme',
      data: { inputs: [], n: 1, target: 'cancelled', reason: 'cancelled', by: 'ann' },
    });
  const told = async (runId: string) =>
    (await hosted.world.events('approval-service')).filter(({ subject }) => subject === runId);
  const toldNames = async (runId: string) => (await told(runId)).map(({ name }) => name);
  const decide = async (caller: Caller, approvalId: string, body: unknown) =>
    hosted.call(caller, 'POST', `/v1/approvals/${approvalId}/decision`, body);
  const shown = async (approvalId: string, caller = FRIEDA) =>
    hosted.call(caller, 'GET', `/v1/approvals/${approvalId}`);
  const pending = (approvalId: string) => eventually(async () => (await shown(approvalId)).status === 200);

  it('shows the whole call with why, and grants it once', async () => {
    const runId = newRun();
    const approvalId = await refer(runId);
    await pending(approvalId);
    expect((await shown(approvalId)).body).toMatchObject({
      approvalId,
      tool: 'erp.invoice_post',
      arguments: ARGUMENTS,
      why: 'over 5,000.00',
      label: { integrity: 'untrusted' },
      requester: 'inbox',
      status: 'pending',
      decidedBy: null,
    });
    const { status, body } = await decide(FRIEDA, approvalId, { action: 'approve', reason: 'agreed' });
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'granted', decidedBy: 'frieda' } });
    expect(await told(runId)).toMatchObject([
      { name: 'approval.requested', data: { approvalId } },
      {
        name: 'approval.granted',
        data: { approvalId, by: 'frieda', reason: 'agreed', digest: referral(runId).digest },
      },
    ]);
  });

  it('lets one of many clicks at once count, and tells the others which (S23, B22)', async () => {
    const runId = newRun();
    const approvalId = await refer(runId);
    await pending(approvalId);
    const clicks = [
      ...Array.from({ length: 4 }, () => decide(FRIEDA, approvalId, { action: 'approve' })),
      ...Array.from({ length: 4 }, () => decide(GRETA, approvalId, { action: 'deny', reason: 'no' })),
    ];
    const answers = await Promise.all(clicks);
    const { status, decidedBy } = (await shown(approvalId)).body as ApprovalView;
    const wins = answers.filter((answer) => answer.status === 200);
    expect(wins).toHaveLength(4);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(4);
    expect(decidedBy).toBe(status === 'granted' ? 'frieda' : 'greta');
    expect(await toldNames(runId)).toHaveLength(2);
  });

  it('asks once for a referral that comes again (B22)', async () => {
    const runId = newRun();
    const approvalId = await refer(runId, {}, 'again');
    await pending(approvalId);
    await decide(FRIEDA, approvalId, { action: 'approve' });
    await refer(runId, {}, 'again');
    const other = newRun();
    await pending(await refer(other));
    expect(await toldNames(runId)).toEqual(['approval.requested', 'approval.granted']);
  });

  it('grants edited arguments under a new digest, or keeps the request open with 422 (S18)', async () => {
    const runId = newRun();
    const approvalId = await refer(runId);
    await pending(approvalId);
    const wrong = await decide(FRIEDA, approvalId, {
      action: 'edit',
      arguments: { number: 'INV-1', amount_cents: 'all' },
    });
    expect(wrong).toMatchObject({ status: 422, body: { code: 'invariant-violated' } });
    const right = await decide(FRIEDA, approvalId, { action: 'edit', arguments: { number: 'INV-1', amount_cents: 1 } });
    expect(right).toMatchObject({ status: 200, body: { editedArguments: { amount_cents: 1 } } });
    const granted = (await told(runId))[1]?.data as EventData<'approval.granted'>;
    expect(granted.arguments).toEqual({ number: 'INV-1', amount_cents: 1 });
    expect(granted.digest).not.toBe(referral(runId).digest);
  });

  it('expires on the clock of the database and refuses the late click (S17)', async () => {
    const runId = newRun();
    const approvalId = await refer(runId, { expiresAt: new Date(Date.now() + 400).toISOString() });
    await eventually(async () => (await toldNames(runId)).includes('approval.expired'));
    expect(await decide(FRIEDA, approvalId, { action: 'approve' })).toMatchObject({
      status: 409,
      body: { code: 'already-decided' },
    });
    expect(await toldNames(runId)).toEqual(['approval.requested', 'approval.expired']);
  });

  it('expires each of several requests of a run at its own time', async () => {
    const runId = newRun();
    const soon = new Date(Date.now() + 300).toISOString();
    await refer(runId, { expiresAt: soon, index: 0 });
    const later = await refer(runId, {
      callId: `${runId}-1-1`,
      index: 1,
      expiresAt: new Date(Date.now() + 700).toISOString(),
    });
    const longest = await refer(runId, { callId: `${runId}-1-2`, index: 2 });
    await eventually(async () => ((await shown(later)).body as ApprovalView).status === 'expired');
    expect(((await shown(longest)).body as ApprovalView).status).toBe('pending');
    expect((await toldNames(runId)).filter((name) => name === 'approval.expired')).toHaveLength(2);
  });

  it('withdraws what is pending when the run stops, and what is asked later (S21)', async () => {
    const runId = newRun();
    const approvalId = await refer(runId);
    await pending(approvalId);
    await stop(runId);
    const late = await refer(runId, { callId: `${runId}-2-0`, turn: 2 });
    await pending(late);
    for (const id of [approvalId, late])
      expect(await decide(FRIEDA, id, { action: 'approve' })).toMatchObject({ status: 409 });
    expect(await toldNames(runId)).toEqual(['approval.requested', 'approval.withdrawn', 'approval.withdrawn']);
  });

  it('takes nobody but an entitled other person, and records who tried (S24)', async () => {
    const runId = newRun();
    const approvalId = await refer(runId);
    await pending(approvalId);
    const requester = { ...FRIEDA, subject: 'inbox' };
    expect((await decide(requester, approvalId, { action: 'approve' })).status).toBe(403);
    expect((await decide({ ...FRIEDA, roles: [] }, approvalId, { action: 'approve' })).status).toBe(403);
    expect((await decide(FRIEDA, approvalId, { action: 'approve', by: 'greta' })).status).toBe(400);
    const attempts: { by: string; code: string }[] = await hosted.dataSource.query(
      'SELECT by, code FROM approval_attempt WHERE approval_id = $1 ORDER BY at, attempt_id',
      [approvalId],
    );
    expect(attempts.map(({ by, code }) => `${by} ${code}`).sort()).toEqual([
      'frieda forbidden',
      'frieda invalid-request',
      'inbox forbidden',
    ]);
    expect(await toldNames(runId)).toEqual(['approval.requested']);
  });

  it('does not exist for another tenant', async () => {
    const runId = newRun();
    const approvalId = await refer(runId);
    await pending(approvalId);
    const stranger = { ...FRIEDA, tenant: 'globex' };
    expect((await shown(approvalId, stranger)).status).toBe(404);
    expect((await decide(stranger, approvalId, { action: 'approve' })).status).toBe(404);
    expect((await hosted.call(stranger, 'GET', '/v1/approvals')).body).toEqual({ items: [] });
    expect((await hosted.call(null, 'GET', '/v1/approvals')).status).toBe(401);
  });

  it('lists by status and run, page by page', async () => {
    const runId = newRun();
    for (const index of [0, 1, 2]) await pending(await refer(runId, { callId: `${runId}-1-${index}`, index }));
    const list = async (query: string) =>
      (await hosted.call(FRIEDA, 'GET', `/v1/approvals?runId=${runId}&${query}`)).body as {
        items: ApprovalView[];
        next?: string;
      };
    const first = await list('status=pending&limit=2');
    const second = await list(`status=pending&limit=2&after=${encodeURIComponent(first.next ?? '')}`);
    expect([...first.items, ...second.items].map(({ callId }) => callId).sort()).toEqual(
      [0, 1, 2].map((index) => `${runId}-1-${index}`),
    );
    expect((await list('status=granted')).items).toEqual([]);
    expect((await hosted.call(FRIEDA, 'GET', '/v1/approvals?status=open')).status).toBe(400);
  });
});
