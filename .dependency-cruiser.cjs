/** Architecture rules as tests: arrows run one way, services → libs → pure libs. */
const pure = 'contracts|run|decider|errors|config-file|labels|context';
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'libs-not-to-services', severity: 'error', from: { path: '^libs/' }, to: { path: '^(services|examples|e2e)/' } },
    {
      name: 'pure-libs-stay-pure',
      severity: 'error',
      from: { path: `^libs/(${pure})/`, pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/', pathNot: `^libs/(${pure})/` },
    },
    {
      name: 'pure-libs-do-no-io',
      severity: 'error',
      from: { path: `^libs/(${pure})/src`, pathNot: '\\.spec\\.ts$' },
      to: { path: '^(node:)?(fs|net|http|https|child_process|dgram|tls|worker_threads)(/|$)' },
    },
    {
      name: 'no-service-to-service',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: '^services/standalone/' },
      to: { path: '^services/([^/]+)/', pathNot: '^services/$1/' },
    },
    {
      name: 'standalone-takes-modules-only',
      severity: 'error',
      from: { path: '^services/standalone/' },
      to: { path: '^services/(?!standalone)[^/]+/src/', pathNot: '^services/[^/]+/src/index\\.ts$' },
    },
    {
      name: 'no-deep-imports-into-libs',
      severity: 'error',
      from: { path: '^(libs|services|examples|e2e)/([^/]+)/' },
      to: { path: '^libs/([^/]+)/src/', pathNot: ['^libs/([^/]+)/src/((testing|bus/kafka)/)?index\\.ts$', '^libs/$2/'] },
    },
    {
      name: 'nest-only-where-it-is-booted',
      severity: 'error',
      from: { path: '^libs/', pathNot: '^libs/(host|messaging/src/(nest|testing)|test-kit)/|\\.spec\\.ts$' },
      to: { path: 'node_modules/@nestjs/' },
    },
    {
      name: 'one-importer-of-cedar',
      severity: 'error',
      from: { pathNot: '^services/policy-engine/src/adapters/cedar/' },
      to: { path: 'node_modules/@cedar-policy/' },
    },
    {
      name: 'kafkajs-behind-the-port',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: '^libs/(messaging/src/bus/kafka|test-kit)/' },
      to: { path: 'node_modules/kafkajs/' },
    },
    { name: 'product-code-imports-no-tests', severity: 'error', from: { pathNot: '\\.(spec|testsuite)\\.ts$|^e2e/|^libs/test-kit/' }, to: { path: '\\.(spec|testsuite)\\.ts$|^libs/test-kit/' } },
    { name: 'product-code-imports-no-harness', severity: 'error', from: { pathNot: '\\.(spec|testsuite)\\.ts$|^e2e/|/src/testing/' }, to: { path: '^libs/[^/]+/src/testing/' } },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules|dist' },
    exclude: { path: '/dist/' },
    enhancedResolveOptions: { conditionNames: ['@lineclear/source', 'import', 'types', 'default'], exportsFields: ['exports'] },
  },
};
