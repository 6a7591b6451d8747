import { ConfigError } from '@lineclear/errors';
import type { Environment } from '../service-definition.js';

export interface PortSettings {
  readonly host: string;
  readonly port: number;
  /** the port was asked for; false: it is the usual one, and a free one will do */
  readonly isAsked: boolean;
}

const USUAL_PORT = 8420;

/** LINECLEAR_HOST (default loopback) and LINECLEAR_PORT (default 8420; 0: a free one). @throws ConfigError for what is no port */
export function portOf(environment: Environment): PortSettings {
  const text = environment['LINECLEAR_PORT'] ?? '';
  const host = environment['LINECLEAR_HOST'] ?? '127.0.0.1';
  if (text === '') return { host, port: USUAL_PORT, isAsked: false };
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return { host, port: Number(text), isAsked: true };
  throw new ConfigError([
    {
      where: 'LINECLEAR_PORT',
      what: 'this is no port',
      seen: `\`${text}\``,
      expected: '0 to 65535',
      next: 'correct it',
    },
  ]);
}
