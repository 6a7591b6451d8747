import { readFile, stat } from 'node:fs/promises';
import { ConfigError } from '@lineclear/errors';

/** The user that the server runs as; `undefined` is our own. PostgreSQL refuses to run as root. */
export type ServerUser = { readonly uid: number; readonly gid: number } | undefined;

const CANDIDATES = ['postgres', 'nobody'];

/**
 * Root lends the server the owner of the cluster, else `postgres`, else `nobody`; anybody else runs it as themselves.
 * @param clusterDir the cluster, which may not exist yet
 * @throws ConfigError when root has nobody to lend, or the cluster belongs to somebody else
 */
export async function serverUser(clusterDir: string): Promise<ServerUser> {
  const ownUid = process.getuid?.();
  const owner = await stat(clusterDir).catch(() => undefined);
  if (ownUid !== 0) {
    if (owner === undefined || ownUid === undefined || owner.uid === ownUid) return undefined;
    throw new ConfigError(
      [
        {
          where: clusterDir,
          what: 'the database files belong to another user',
          seen: `user id ${owner.uid}`,
          expected: `user id ${ownUid}`,
          next: 'start as that user or as root, or name another data folder',
        },
      ],
      { code: 'folder-unusable' },
    );
  }
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const name of CANDIDATES) {
    const [, , uid, gid] =
      passwd
        .split('\n')
        .map((line) => line.split(':'))
        .find(([user]) => user === name) ?? [];
    if (Number(uid) > 0 && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new ConfigError(
    [
      {
        where: '/etc/passwd',
        what: 'PostgreSQL does not run as root and there is no user to lend it',
        expected: `user ${CANDIDATES.map((name) => `\`${name}\``).join(' or ')}`,
        next: 'create one, or start as a normal user',
      },
    ],
    { code: 'database-not-started' },
  );
}
