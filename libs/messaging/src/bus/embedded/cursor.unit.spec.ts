import { describe, expect, it } from 'vitest';
import type { BusRecord } from '../bus.js';
import { Cursor } from './cursor.js';

const record = (offset: number): BusRecord => ({
  topic: 'runs',
  partition: 0,
  offset: BigInt(offset),
  key: 'k',
  headers: {},
  value: '',
});

/** A cursor that has read the table to `next`. */
function live(next: number): Cursor {
  const cursor = new Cursor('runs', 0, BigInt(next));
  cursor.beginRead();
  cursor.endRead([], false);
  return cursor;
}

describe('a cursor', () => {
  it('begins behind: what is in the table before it was there comes first', () => {
    const cursor = new Cursor('runs', 0, 0n);
    expect([cursor.isBehind, cursor.accept(record(0))]).toEqual([true, false]);
  });

  it('accepts the next record and no other', () => {
    const cursor = live(5);
    expect([5, 6, 6, 4, 7].map((offset) => cursor.accept(record(offset)))).toEqual([true, true, false, false, true]);
    expect([cursor.next, cursor.isBehind]).toEqual([8n, false]);
  });

  it('reads the table after a gap, and accepts again once it has', () => {
    const cursor = live(5);
    expect([cursor.accept(record(7)), cursor.isBehind]).toEqual([false, true]);
    cursor.beginRead();
    cursor.endRead([5, 6, 7].map(record), false);
    expect([cursor.isBehind, cursor.accept(record(8))]).toEqual([false, true]);
  });

  it('stays behind when a record was committed while it read', () => {
    const cursor = live(5);
    cursor.markUnread();
    cursor.beginRead();
    expect(cursor.accept(record(5))).toBe(false);
    cursor.endRead([], false);
    expect(cursor.isBehind).toBe(true);
    cursor.beginRead();
    cursor.endRead([record(5)], false);
    expect([cursor.isBehind, cursor.next]).toEqual([false, 6n]);
  });

  it('stays behind after a read that ended at its limit, or failed', () => {
    const cursor = live(5);
    cursor.beginRead();
    cursor.endRead([record(5)], true);
    expect(cursor.isBehind).toBe(true);
    cursor.beginRead();
    cursor.failRead();
    expect(cursor.isBehind).toBe(true);
  });
});
