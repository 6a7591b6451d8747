import { defineConfig } from 'vitest/config';

/** CAUTION: vitest hands these to Node too, where `import` or `module` would give ES modules to the `require` inside packages such as pg. */
const conditions = ['@lineclear/source', 'node', 'default'];
const shared = {
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
};

/** Two projects: `fast` shares one process (no module state allowed), `isolated` is for global OTel providers and whole processes. */
export default defineConfig({
  ...shared,
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: 'fast',
          include: [
            '{libs,services,examples}/**/src/**/*.{unit,int,contract}.spec.ts',
            'examples/**/check/**/*.spec.ts',
          ],
          exclude: ['**/dist/**', '**/node_modules/**', '**/*.isolated.*.spec.ts'],
          pool: 'forks',
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'isolated',
          include: ['{libs,services,examples}/**/src/**/*.isolated.*.spec.ts', 'e2e/**/*.spec.ts'],
          exclude: ['**/dist/**', '**/node_modules/**'],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
