import { readdir, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { InvalidMessageError } from '@lineclear/errors';

/** Names that a data folder of ours may hold; anything else means that the folder is not ours to wipe. */
const OURS =
  /^(postgres.*|erp|instance\.json|batch\.json(\.new)?|.*\.jwk|policy-jwks\.json|.*\.key|development-.*|lock|.*\.lock|installation.*|\..*)$/;

/** Wipes the data folder after a yes at the terminal. @throws InvalidMessageError when nobody can be asked, the answer is no, or foreign files are there */
export async function wipeDataFolder(home: string, terminal: { readonly canAsk: boolean }): Promise<void> {
  const names = await readdir(home).catch(() => []);
  if (names.length === 0) return;
  const foreign = names.filter((name) => !OURS.test(name));
  if (foreign.length > 0)
    throw refusal(
      home,
      `it holds \`${foreign.slice(0, 3).join('`, `')}\`, which the platform did not write`,
      'wipe it by hand or choose another LINECLEAR_HOME',
    );
  if (!terminal.canAsk) throw refusal(home, 'there is no terminal to ask at', 'remove the folder by hand');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`wipe everything in \`${home}\` (runs, audit, ledgers)? [y/N] `);
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw refusal(home, 'the answer was no', 'start without `--fresh`');
  await rm(home, { recursive: true });
}

function refusal(home: string, why: string, next: string): InvalidMessageError {
  return new InvalidMessageError('invalid-request', `\`--fresh\` does not wipe \`${home}\`: ${why}; ${next}`);
}
