import { join } from 'node:path';
import { ActiveSet } from './application/active-set.js';
import type { Environment } from '@lineclear/host';
import type { PolicyText } from './domain/policy-set.js';
import { readPolicyFiles } from './adapters/files/policy-files.js';

export interface PolicyEngineConfig {
  /** policies/*.yaml as they are; read, compiled and tested once already */
  readonly policies: readonly PolicyText[];
  readonly hash: string;
  readonly warnings: readonly string[];
  readonly keyFile: string;
}

/** Injection token. */
export const POLICY_CONFIG = Symbol('POLICY_CONFIG');

/**
 * Reads policies/*.yaml of LINECLEAR_PROJECT (default: the current folder) and where the signing key is: POLICY_KEY_FILE, default
 * policy-signing.jwk in LINECLEAR_HOME (default .lineclear).
 * @throws ConfigError naming every fault of every file with line and column; the set in force stays
 */
export function policyEngineConfig(environment: Environment): PolicyEngineConfig {
  const policies = readPolicyFiles(environment['LINECLEAR_PROJECT'] ?? process.cwd());
  const set = ActiveSet.load(policies);
  set.dispose();
  const home = environment['LINECLEAR_HOME'] ?? '.lineclear';
  return Object.freeze({
    policies,
    hash: set.set.hash,
    warnings: set.warnings,
    keyFile: environment['POLICY_KEY_FILE'] ?? join(home, 'policy-signing.jwk'),
  });
}
