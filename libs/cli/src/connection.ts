import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientOptions } from '@lineclear/client';
import { TransientError } from '@lineclear/errors';
import { DevelopmentIssuer } from '@lineclear/identity';
import { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a running platform says of itself in `<home>/instance.json`. CAUTION: public, see interface.md. */
const instanceSchema = z.looseObject({ url: z.string(), batch: z.string().nullish() });

/** Roles of the token that the command line takes from the development issuer. */
const DEVELOPER_ROLES = ['operator', 'finance', 'ap-clerk'];

export const homeOf = (environment: Environment): string => environment['LINECLEAR_HOME'] ?? '.lineclear';

/**
 * Where the platform is and who asks: LINECLEAR_URL and LINECLEAR_TOKEN, else the instance on the data folder and its development issuer.
 * Throws TransientError(`unavailable`) when neither is there.
 */
export async function connectionOf(
  environment: Environment,
  asked: { readonly tenant?: string | undefined; readonly url?: string | undefined },
): Promise<ClientOptions> {
  const home = homeOf(environment);
  const instance = await readInstance(home);
  const url = asked.url ?? environment['LINECLEAR_URL'] ?? instance?.url;
  const token = environment['LINECLEAR_TOKEN'];
  const tenant = asked.tenant ?? (instance?.batch ? `demo-${instance.batch}` : 'demo');
  return {
    url: url ?? 'http://127.0.0.1:8420',
    token: token ?? (() => developerToken(home, tenant)),
  };
}

async function developerToken(home: string, tenant: string): Promise<string> {
  const issuer = await DevelopmentIssuer.open(home, { create: false });
  if (issuer === undefined)
    throw new TransientError(
      'unavailable',
      `no platform runs on the data folder \`${home}\`; start one with \`npm start\`, or set LINECLEAR_URL and LINECLEAR_TOKEN`,
    );
  return issuer.issue({ tenant, subject: 'developer', roles: DEVELOPER_ROLES, scopes: [] });
}

async function readInstance(home: string): Promise<z.infer<typeof instanceSchema> | undefined> {
  try {
    return instanceSchema.parse(JSON.parse(await readFile(join(home, 'instance.json'), 'utf8')));
  } catch {
    return undefined;
  }
}
