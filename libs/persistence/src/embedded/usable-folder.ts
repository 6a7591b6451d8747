import { ConfigError } from '@lineclear/errors';

/** Runs file work inside the data folder; what fails is reported as `folder-unusable` and names the folder. */
export async function usableFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new ConfigError(
      [
        {
          where: folder,
          what: 'the data folder cannot be used',
          seen: `\`${code ?? message}\``,
          expected: 'a folder that can be created, read and written',
          next: 'correct its permissions, or name another data folder',
        },
      ],
      { code: 'folder-unusable', cause },
    );
  }
}
