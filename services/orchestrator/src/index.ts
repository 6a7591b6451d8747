export type { OrchestratorConfig } from './config.js';
export { orchestrator } from './orchestrator.js';
