export { traceStore } from './trace-store.js';
