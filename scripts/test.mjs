// The whole gate: lint, format, boundaries, types, then every test; ends with one line `N passed, N failed, N skipped`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment, nodePath, prepare, root } from './bootstrap.mjs';

prepare();
const bin = (name) => join(root, 'node_modules', '.bin', name);
const ci = process.env.CI === 'true';
const counts = { passed: 0, failed: 0, skipped: 0 };

function gate(name, command, args) {
  process.stdout.write(`\n== ${name}\n`);
  const result = spawnSync(command, args, { cwd: root, env: environment(), stdio: ['ignore', 'inherit', 'inherit'] });
  counts[result.status === 0 ? 'passed' : 'failed'] += 1;
}

function tests(args) {
  process.stdout.write('\n== tests\n');
  const folder = mkdtempSync(join(tmpdir(), 'lineclear-test-'));
  const report = join(folder, 'report.json');
  const result = spawnSync(
    nodePath(),
    [bin('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    { cwd: root, env: environment(), stdio: ['ignore', 'inherit', 'inherit'] },
  );
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests, numTodoTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    counts.passed += numPassedTests;
    counts.failed += numFailedTests || (result.status === 0 ? 0 : Math.max(1, numFailedTestSuites));
    counts.skipped += numPendingTests + numTodoTests;
  } catch (error) {
    process.stderr.write(`lineclear: no test report: ${error.message}\n`);
    counts.failed += 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const filters = process.argv.slice(2);
if (filters.length === 0) {
  gate('lint', bin('oxlint'), ['--type-aware', '--deny-warnings']);
  gate('format', bin('biome'), ['format', '.']);
  gate('boundaries', bin('depcruise'), ['--config', '.dependency-cruiser.cjs', 'libs', 'services', 'examples', 'e2e']);
}
tests(filters);
if (ci && counts.skipped > 0) {
  process.stderr.write(`lineclear: ${counts.skipped} tests were skipped although CI=true\n`);
  counts.failed += 1;
}
process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
