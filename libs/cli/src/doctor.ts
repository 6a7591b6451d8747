import { access, constants, mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { LineclearClient } from '@lineclear/client';
import { type Environment, homeOf } from './connection.js';

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly seen: string;
  readonly next: string;
}

const NODE_MAJOR = 24;
const DEFAULT_PORT = 8420;

/** What commonly stops a start, each with what was seen and what to do. */
export async function diagnose(environment: Environment, client: LineclearClient): Promise<Finding[]> {
  const running = await platformFinding(client);
  const port = running.ok ? [] : [await portFinding(Number(environment['LINECLEAR_PORT'] ?? DEFAULT_PORT))];
  return [nodeFinding(), await folderFinding(homeOf(environment)), databaseFinding(environment), ...port, running];
}

function nodeFinding(): Finding {
  const seen = process.version;
  const ok = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR;
  return { check: 'node', ok, seen, next: ok ? '' : `run through \`npm start\`, which brings Node ${NODE_MAJOR}` };
}

async function folderFinding(home: string): Promise<Finding> {
  try {
    await mkdir(home, { recursive: true });
    await access(home, constants.W_OK);
    return { check: 'data folder', ok: true, seen: home, next: '' };
  } catch (error) {
    return {
      check: 'data folder',
      ok: false,
      seen: String(error),
      next: 'choose a writable folder with LINECLEAR_HOME',
    };
  }
}

function databaseFinding(environment: Environment): Finding {
  const url = environment['DATABASE_URL'];
  if (url === undefined) return { check: 'database', ok: true, seen: 'embedded PostgreSQL', next: '' };
  if (!URL.canParse(url))
    return {
      check: 'database',
      ok: false,
      seen: 'DATABASE_URL is no URL',
      next: 'expected postgres://user:password@host:port/database',
    };
  const { host, pathname } = new URL(url);
  return { check: 'database', ok: true, seen: `${host}${pathname}`, next: '' };
}

function portFinding(port: number): Promise<Finding> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve({
        check: 'port',
        ok: false,
        seen: `${port}: ${error.code}`,
        next: 'stop what listens there, or choose another port with LINECLEAR_PORT',
      }),
    );
    server.listen(port, '127.0.0.1', () =>
      server.close(() => resolve({ check: 'port', ok: true, seen: `${port} is free`, next: '' })),
    );
  });
}

async function platformFinding(client: LineclearClient): Promise<Finding> {
  try {
    const { ready, reasons } = await client.ready();
    return {
      check: 'platform',
      ok: ready,
      seen: ready ? 'ready' : reasons.join('; '),
      next: ready ? '' : 'see the log of the platform',
    };
  } catch (error) {
    return {
      check: 'platform',
      ok: false,
      seen: error instanceof Error ? error.message : String(error),
      next: 'start it with `npm start`',
    };
  }
}
