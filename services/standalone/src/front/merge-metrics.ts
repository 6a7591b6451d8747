/** Several Prometheus texts as one: each family once, with its HELP and TYPE first and the samples of all texts after it. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, { comments: Map<string, string>; samples: string[] }>();
  for (const text of texts) {
    let current = '';
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const comment = /^# (HELP|TYPE) (\S+)/.exec(line);
      if (comment !== null) current = comment[2] ?? '';
      const name = comment === null && !belongsTo(line, current) ? nameOf(line) : current;
      const family = families.get(name) ?? { comments: new Map<string, string>(), samples: [] };
      families.set(name, family);
      if (comment === null) family.samples.push(line);
      else if (!family.comments.has(comment[1] ?? '')) family.comments.set(comment[1] ?? '', line);
    }
  }
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments.values(), ...new Set(samples)]);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

const nameOf = (sample: string): string => /^[^{\s]+/.exec(sample)?.[0] ?? sample;

/** Samples of histograms and summaries carry a suffix. */
const belongsTo = (sample: string, family: string): boolean =>
  family !== '' &&
  /^(_bucket|_sum|_count|_total|_created)?$/.test(nameOf(sample).slice(family.length)) &&
  sample.startsWith(family);
