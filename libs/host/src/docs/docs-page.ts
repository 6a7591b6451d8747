import type { OpenApiDocument } from './openapi.js';

interface Operation {
  readonly summary?: string;
  readonly security?: readonly unknown[];
}

/** A plain page that lists what an OpenAPI document holds; needs no script and nothing from another host. */
export function docsPage(document: OpenApiDocument): string {
  const title = escape(String((document['info'] as { title: string }).title));
  const rows = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => row(method, path, operation as Operation)),
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}td,th{padding:.25rem .75rem;text-align:left;vertical-align:top}code{white-space:nowrap}</style>
</head>
<body><h1>${title}</h1>
<p>The machine-readable form is <a href="/docs/openapi.json">/docs/openapi.json</a> (OpenAPI 3.1). Errors are <code>application/problem+json</code>.</p>
<table><thead><tr><th>Route</th><th>What it does</th><th>Token</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table></body></html>
`;
}

function row(method: string, path: string, { summary, security }: Operation): string {
  const token = security?.length === 0 ? 'no' : 'yes';
  return `<tr><td><code>${method.toUpperCase()} ${escape(path)}</code></td><td>${escape(summary ?? '')}</td><td>${token}</td></tr>`;
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
