import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Trouble on request, for demos and tests. The file lists {number, fault, delayMs?, always?}; `number` is an invoice number or supplier.
 * lose-reply: acts and never answers. slow: waits delayMs, then acts unless it was cancelled. crash-before, crash-after: the process ends
 * before or after acting. Each happens once per tenant unless `always`; the marks survive a restart.
 */
export class Faults {
  #rules;
  #folder;
  #used;

  constructor(file, folder) {
    this.#rules = file === undefined || file === '' ? [] : JSON.parse(readFileSync(file, 'utf8'));
    this.#folder = folder;
    this.#used = new Set(existsSync(this.#marks) ? readFileSync(this.#marks, 'utf8').split('\n') : []);
  }

  async beforeActing(tenant, subject, signal) {
    if (this.#happens('crash-before', tenant, subject)) process.exit(70);
    const slow = this.#happens('slow', tenant, subject);
    if (slow) await delay(slow.delayMs, undefined, { signal });
  }

  async afterActing(tenant, subject, signal) {
    if (this.#happens('crash-after', tenant, subject)) process.exit(70);
    if (!this.#happens('lose-reply', tenant, subject)) return;
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  }

  get #marks() {
    return join(this.#folder, 'faults-used.log');
  }

  #happens(fault, tenant, subject) {
    const rule = this.#rules.find((each) => each.fault === fault && each.number === subject);
    if (rule === undefined || rule.always) return rule;
    const mark = `${tenant} ${fault} ${subject}`;
    if (this.#used.has(mark)) return undefined;
    this.#used.add(mark);
    mkdirSync(this.#folder, { recursive: true });
    appendFileSync(this.#marks, `${mark}\n`);
    return rule;
  }
}
