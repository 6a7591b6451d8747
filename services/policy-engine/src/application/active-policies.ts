import { Injectable } from '@nestjs/common';
import { TransientError } from '@lineclear/errors';
import type { ReadHandle } from '@lineclear/messaging';
import { POLICY_SET_NAME } from '../domain/policy-set-name.js';
import type { PolicyText } from '../domain/policy-set.js';
import { ActiveSet } from './active-set.js';

/** The set in force in this process; follows the version in the database, whoever activated it. */
@Injectable()
export class ActivePolicies {
  private current: ActiveSet | undefined;

  /**
   * The set of this version, loaded when the one in memory is another. INVARIANT: only the lane calls it, between batches, so no set is
   * disposed while it judges.
   * @throws TransientError when no set was activated yet, or this release cannot read the stored one
   */
  async at(version: number | undefined, read: ReadHandle): Promise<ActiveSet> {
    if (this.current !== undefined && this.current.version === version) return this.current;
    if (version === undefined) throw new TransientError('unavailable', 'no policy set has been activated yet');
    const [row] = await read.query<{ files: string }>('SELECT files FROM policy_set WHERE name = $1 AND version = $2', [
      POLICY_SET_NAME,
      version,
    ]);
    if (row === undefined) throw new TransientError('unavailable', `version ${version} of the policy set is gone`);
    const next = loadStored(row.files, version);
    this.current?.dispose();
    this.current = next;
    return next;
  }
}

/** @throws TransientError for a set that this release cannot read: another release, or a corrected file, can */
export function loadStored(files: string, version: number): ActiveSet {
  try {
    return ActiveSet.load(JSON.parse(files) as readonly PolicyText[], version);
  } catch (cause) {
    throw new TransientError('unavailable', `version ${version} of the policy set cannot be used by this release`, {
      cause,
    });
  }
}
