import type { BlobStore } from '../adapters/postgres/blob-store.js';
import { MAX_PAGE_CHARS } from '../domain/read-result.js';
import type { AttemptEnd } from '../domain/settle.js';
import type { ToolCallJob } from './run-commands.js';

/** The built-in `read_result`: a page of what an earlier call of the same run left behind. Arguments are valid by its schema. */
export async function readPage(blobs: BlobStore, { arguments: args, tenant, runId }: ToolCallJob): Promise<AttemptEnd> {
  const handle = String(args['handle']);
  const offset = Number(args['offset'] ?? 0);
  const limit = Number(args['limit'] ?? MAX_PAGE_CHARS);
  const page = await blobs.page(handle, { tenant, runId }, offset, limit);
  if (page === undefined) return refused(`this run has no result \`${handle}\``);
  if (page.isBinary) return refused(`result \`${handle}\` is ${page.mediaType}, which cannot be shown as text`);
  const end = Math.min(offset + limit, page.length);
  const more = end < page.length ? `; go on at offset ${end}` : '';
  return {
    kind: 'succeeded',
    result: { text: `${page.text}\n[characters ${offset} to ${end} of ${page.length}${more}]` },
  };
}

const refused = (text: string): AttemptEnd => ({ kind: 'refused', reason: 'tool-error', result: { text } });
