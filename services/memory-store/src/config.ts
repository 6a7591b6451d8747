import { ConfigError } from '@lineclear/errors';
import type { Environment } from '@lineclear/host';

export interface MemoryStoreConfig {
  /** upper bound of one recall, in estimated tokens */
  readonly recallMaxTokens: number;
}

export const MEMORY_CONFIG = Symbol('MEMORY_CONFIG');

const DEFAULT_RECALL_MAX_TOKENS = 2_000;

export function memoryStoreConfig(environment: Environment): MemoryStoreConfig {
  const text = environment['MEMORY_RECALL_MAX_TOKENS'];
  if (text === undefined) return Object.freeze({ recallMaxTokens: DEFAULT_RECALL_MAX_TOKENS });
  if (/^\d{1,6}$/.test(text)) return Object.freeze({ recallMaxTokens: Number(text) });
  throw new ConfigError([
    {
      where: 'MEMORY_RECALL_MAX_TOKENS',
      what: 'the value is no number of tokens',
      seen: `\`${text}\``,
      expected: '0 to 999999',
    },
  ]);
}
