import { describe, expect, it } from 'vitest';
import { toTask } from './inbox.js';

describe('toTask', () => {
  it('wraps an invoice as input of the clerk', () => {
    expect(JSON.parse(toTask('01.json', '{"number": "INV-1"}').data)).toEqual({
      agent: 'invoice-clerk',
      input: { invoice: { number: 'INV-1' } },
      taskType: 'invoice',
      tags: ['demo'],
    });
  });

  it('sends what is no JSON object as it is', () => {
    expect(toTask('x.json', '{"number": ').data).toBe('{"number": ');
    expect(toTask('x.json', '[1]').data).toBe('[1]');
  });

  it('takes the sender from the folder and the tenant from the file', () => {
    expect(toTask('intern/27.json', '{}').sender).toBe('intern');
    expect(toTask('14.json', '{"tenant":"globex"}')).toMatchObject({ sender: 'inbox', tenant: 'globex' });
  });
});
