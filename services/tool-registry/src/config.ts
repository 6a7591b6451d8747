import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '@lineclear/errors';
import type { Environment } from '@lineclear/host';
import type { KeySource } from './adapters/keys/policy-keys.js';
import { parseToolsFile, type ServerConfig } from './config/tools-file.js';

export interface ToolRegistryConfig {
  readonly servers: readonly ServerConfig[];
  /** folder of tools.yaml, where the servers' relative paths start */
  readonly projectFolder: string;
  readonly policyKeys: KeySource;
  readonly environment: Environment;
}

/** Injection token. */
export const REGISTRY_CONFIG = Symbol('REGISTRY_CONFIG');

/** Name of the policy engine's public file, beside its key. */
const PUBLIC_KEYS_FILE = 'policy-jwks.json';

/**
 * Reads tools.yaml of LINECLEAR_PROJECT (default: the current folder; no file: no servers) and where the policy engine's public keys are:
 * POLICY_JWKS_URL or POLICY_JWKS_FILE, default policy-jwks.json in LINECLEAR_HOME.
 * @throws ConfigError naming every fault with line and column
 */
export function toolRegistryConfig(environment: Environment): ToolRegistryConfig {
  const projectFolder = resolve(environment['LINECLEAR_PROJECT'] ?? '.');
  const file = join(projectFolder, 'tools.yaml');
  const text = readTools(file);
  return Object.freeze({
    servers: text === undefined ? [] : parseToolsFile(text, file, environment),
    projectFolder,
    policyKeys: keySource(environment),
    environment,
  });
}

function readTools(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ConfigError([{ where: file, what: 'it cannot be read', next: 'make it readable for this user' }], {
      cause,
    });
  }
}

function keySource(environment: Environment): KeySource {
  const { POLICY_JWKS_URL: url, POLICY_JWKS_FILE: file } = environment;
  if (url === undefined)
    return { file: resolve(file ?? join(environment['LINECLEAR_HOME'] ?? '.lineclear', PUBLIC_KEYS_FILE)) };
  if (file !== undefined)
    throw new ConfigError([
      { where: 'POLICY_JWKS_URL', what: 'POLICY_JWKS_FILE is set too', next: 'unset one of them' },
    ]);
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return { url };
  throw new ConfigError([
    {
      where: 'POLICY_JWKS_URL',
      what: 'it is no address of keys',
      seen: `\`${url}\``,
      expected: 'an http or https URL',
    },
  ]);
}
