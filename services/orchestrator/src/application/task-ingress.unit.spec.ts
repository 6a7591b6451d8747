import { runIdOf } from '@lineclear/contracts';
import type { Producers } from '@lineclear/identity';
import { describe, expect, it } from 'vitest';
import { taskCommandOf, type TaskRecord } from './task-ingress.js';

const INBOX = { tenant: 'acme', subject: 'inbox', roles: ['ap-clerk'], scopes: [] };
const PRODUCERS: Producers = { principalOf: (source) => (source === '/erp/inbox' ? INBOX : undefined) };

const record = (given: Partial<TaskRecord> = {}): TaskRecord => ({
  topic: 'tasks',
  partition: 3,
  offset: 41n,
  headers: {
    ce_specversion: '1.0',
    ce_id: 'b17/inv-007',
    ce_source: '/erp/inbox',
    ce_type: 'lineclear.task.submit.v1',
    'content-type': 'application/json',
  },
  value: '{"agent":"invoice-clerk","input":{}}',
  ...given,
});

describe('a record of tasks', () => {
  it('becomes a command to the run of its producer', () => {
    const command = taskCommandOf(record(), PRODUCERS);
    expect(command).toMatchObject({
      name: 'submit-task',
      key: runIdOf('acme', '/erp/inbox', 'b17/inv-007'),
      tenant: 'acme',
      by: INBOX,
      payload: { task: { id: 'b17/inv-007', source: '/erp/inbox' }, dataText: record().value },
    });
  });

  it('is one command however often it comes, and another with another payload', () => {
    const { id } = taskCommandOf(record(), PRODUCERS);
    expect(taskCommandOf(record({ partition: 5, offset: 99n }), PRODUCERS).id).toBe(id);
    expect(taskCommandOf(record({ value: '{}' }), PRODUCERS).id).not.toBe(id);
  });

  it('takes the tenant from the producer and never from the event', () => {
    const headers = { ...record().headers, ce_tenant: 'globex' };
    expect(taskCommandOf(record({ headers }), PRODUCERS)).toMatchObject({
      tenant: 'acme',
      payload: { tenant: 'globex' },
    });
  });

  it('of an unknown source belongs to no tenant and acts for nobody', () => {
    const headers = { ...record().headers, ce_source: '/stranger' };
    expect(taskCommandOf(record({ headers }), PRODUCERS)).toMatchObject({ tenant: 'unassigned', by: null });
  });

  it.each([
    ['a tombstone', { value: null }, 'b17/inv-007'],
    ['what is not JSON', { value: 'x' }, 'b17/inv-007'],
    ['a record without headers', { headers: {} }, '3/41'],
  ])('keeps %s as a fault', (_, given, id) => {
    expect(taskCommandOf(record(given), PRODUCERS).payload).toMatchObject({
      task: { id },
      fault: { where: expect.any(String) },
    });
  });
});
