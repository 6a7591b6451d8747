export type { ToolRegistryConfig } from './config.js';
export { toolRegistry } from './tool-registry.js';
