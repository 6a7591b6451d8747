import { contentHash, type EventData } from '@lineclear/contracts';
import { matchesGlob } from './glob.js';
import { type Tool, viewOf } from './tool.js';

/**
 * The tools a run sees: those that exist and that a glob of its agent names, by name. Those that cannot be called now are listed with the reason.
 * The same catalogue and globs give the same list and hash.
 */
export function resolveToolset(tools: readonly Tool[], globs: readonly string[]): EventData<'toolset.resolved'> {
  const views = tools
    .filter(({ name }) => globs.some((glob) => matchesGlob(glob, name)))
    .map(viewOf)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { toolsetHash: contentHash(views), tools: views };
}
