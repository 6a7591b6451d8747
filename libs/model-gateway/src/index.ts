export {
  createModelGateway,
  type ModelDescription,
  type ModelGateway,
  type ModelOutcome,
  type ModelProvider,
  type ModelRequest,
} from './model-gateway.js';
export { createScriptedProvider, type ScriptSource } from './scripted/scripted-provider.js';
