import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Remembers over a crash under which id this replica was a member of a group. */
export interface MemberStore {
  read(group: string): Promise<string | undefined>;
  write(group: string, memberId: string): Promise<void>;
  remove(group: string): Promise<void>;
}

/** One small file per group. CAUTION: the folder belongs to one replica; two that share it would send each other away at every start. */
export function fileMemberStore(folder: string): MemberStore {
  const path = (group: string) => join(folder, `${encodeURIComponent(group)}.member`);
  return {
    async read(group) {
      const id = await readFile(path(group), 'utf8').catch(() => '');
      return id === '' ? undefined : id;
    },
    async write(group, memberId) {
      await mkdir(folder, { recursive: true });
      const fresh = `${path(group)}.new`;
      await writeFile(fresh, memberId);
      await rename(fresh, path(group));
    },
    remove: (group) => rm(path(group), { force: true }),
  };
}
