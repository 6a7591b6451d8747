export type { MemoryStoreConfig } from './config.js';
export { memoryStore } from './memory-store.js';
