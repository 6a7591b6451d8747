export { eventually, type EventuallyOptions } from './eventually.js';
export { type NewDatabase, type TestDatabase, testDatabase } from './test-database.js';
export { startTypeScript, type TypeScriptProcess } from './typescript-process.js';
