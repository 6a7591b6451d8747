import { describe, expect, it } from 'vitest';
import { mergeMetrics } from './merge-metrics.js';

const of = (service: string) => `# HELP lane_inputs Inputs taken.
# TYPE lane_inputs counter
lane_inputs{service="${service}"} 3
# HELP http_seconds Time to answer.
# TYPE http_seconds histogram
http_seconds_bucket{service="${service}",le="+Inf"} 1
http_seconds_sum{service="${service}"} 0.5
http_seconds_count{service="${service}"} 1
`;

describe('merged metrics', () => {
  it('holds each family once, with the samples of all services together', () => {
    expect(mergeMetrics([of('a'), of('b')])).toBe(`# HELP lane_inputs Inputs taken.
# TYPE lane_inputs counter
lane_inputs{service="a"} 3
lane_inputs{service="b"} 3
# HELP http_seconds Time to answer.
# TYPE http_seconds histogram
http_seconds_bucket{service="a",le="+Inf"} 1
http_seconds_sum{service="a"} 0.5
http_seconds_count{service="a"} 1
http_seconds_bucket{service="b",le="+Inf"} 1
http_seconds_sum{service="b"} 0.5
http_seconds_count{service="b"} 1
`);
  });

  it('keeps samples without comments and drops exact repetitions', () => {
    expect(mergeMetrics(['up 1\n', 'up 1\nother 2\n', ''])).toBe('up 1\nother 2\n');
    expect(mergeMetrics([])).toBe('');
  });
});
