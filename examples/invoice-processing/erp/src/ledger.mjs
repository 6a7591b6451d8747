import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The effects of one tenant: JSON lines, appended and synced before anybody is told. The file is the only state, so that a restarted server
 * knows the keys of its predecessor, and a posting exists exactly if its line does.
 */
export class Ledger {
  #file;
  #read = 0;
  #count = 0;
  #last;
  #byKey = new Map();

  constructor(folder, tenant) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(tenant)) throw new Error(`tenant \`${tenant}\` cannot name a ledger`);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${tenant}.jsonl`);
    const isNew = !existsSync(path);
    this.#file = openSync(path, 'a+');
    if (isNew) syncFolder(folder);
    this.#refresh();
  }

  /** The effect of a key with its document number, or undefined. */
  byKey(key) {
    this.#refresh();
    return this.#byKey.get(key);
  }

  /** Writes one effect; when this returns, it happened. */
  append(entry) {
    this.#refresh();
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    fsyncSync(this.#file);
    this.#refresh();
    return this.#last;
  }

  /** Reads what was appended since, also by another process; a line without its end was never acknowledged and is cut off. */
  #refresh() {
    const { size } = fstatSync(this.#file);
    if (size <= this.#read) return;
    const bytes = Buffer.alloc(size - this.#read);
    readSync(this.#file, bytes, 0, bytes.length, this.#read);
    const end = bytes.lastIndexOf(0x0a) + 1;
    if (end < bytes.length) ftruncateSync(this.#file, this.#read + end);
    for (const text of bytes.toString('utf8', 0, end).split('\n')) if (text !== '') this.#add(JSON.parse(text));
    this.#read += end;
  }

  #add(line) {
    this.#count += 1;
    this.#last = { ...line, document: `DOC-${String(this.#count).padStart(6, '0')}` };
    if (line.key !== null) this.#byKey.set(line.key, this.#last);
  }
}

function syncFolder(folder) {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
