export { createModelGateway } from './model-gateway.js';
export type { ModelDescription, ModelGateway, ModelOutcome, ModelProvider, ModelRequest } from './ports.js';
export { createScriptedProvider, type ScriptSource } from './scripted/scripted-provider.js';
