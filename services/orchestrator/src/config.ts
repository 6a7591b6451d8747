import { parseLocatedConfigFile } from '@lineclear/config-file';
import { type AgentDefinition, agentDefinitionSchema } from '@lineclear/contracts';
import { ConfigError, type ConfigFault } from '@lineclear/errors';
import type { Environment } from '@lineclear/host';
import { parseProducers, type Producers } from '@lineclear/identity';
import { createModelGateway, createScriptedProvider, type ModelGateway } from '@lineclear/model-gateway';
import { AgentCatalog } from './domain/agent-catalog.js';
import { nearestNames } from './domain/nearest-names.js';
import { type ProjectFile, projectFile, projectFiles } from './project-files.js';

export interface OrchestratorConfig {
  readonly agents: AgentCatalog;
  readonly gateway: ModelGateway;
  /** who the tasks of a source act for; nobody when there is no producers.yaml */
  readonly producers: Producers;
}

export const ORCHESTRATOR_CONFIG = Symbol('ORCHESTRATOR_CONFIG');

/**
 * Reads agents/*.yaml, models/*.yaml and producers.yaml of LINECLEAR_PROJECT (default: the current folder). LINECLEAR_MODEL, when set, is the model
 * of every agent instead of its own.
 * @throws ConfigError naming every fault of every file with line and column
 */
export function orchestratorConfig(environment: Environment): OrchestratorConfig {
  const project = environment['LINECLEAR_PROJECT'] ?? process.cwd();
  const gateway = createModelGateway([createScriptedProvider(projectFiles(project, 'models'))]);
  const agents = readAgents(projectFiles(project, 'agents'), gateway, modelForAll(environment, gateway));
  return Object.freeze({ gateway, agents, producers: readProducers(projectFile(project, 'producers.yaml')) });
}

const NO_PRODUCERS: Producers = { principalOf: () => undefined };

function readProducers(file: ProjectFile | undefined): Producers {
  return file ? parseProducers(file.text, file.file) : NO_PRODUCERS;
}

/** The agents of these files, each with a model that exists. */
export function readAgents(
  files: readonly ProjectFile[],
  gateway: Pick<ModelGateway, 'describe' | 'routes'>,
  model?: string,
): AgentCatalog {
  if (files.length === 0)
    throw new ConfigError([
      {
        where: 'agents',
        what: 'the project has no agent',
        expected: 'at least one file agents/*.yaml',
        next: 'add one',
      },
    ]);
  const faults: ConfigFault[] = [];
  const fileOf = new Map<string, string>();
  const definitions: AgentDefinition[] = [];
  for (const { file, text } of files) {
    try {
      definitions.push(readAgent(file, text, fileOf, gateway));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
    }
  }
  const [first, ...rest] = faults;
  if (first) throw new ConfigError([first, ...rest]);
  return new AgentCatalog(
    model === undefined ? definitions : definitions.map((definition) => ({ ...definition, model })),
  );
}

function modelForAll(environment: Environment, gateway: Pick<ModelGateway, 'describe' | 'routes'>): string | undefined {
  const model = environment['LINECLEAR_MODEL'];
  if (model === undefined || model === '' || gateway.describe(model)) return model || undefined;
  throw new ConfigError([
    {
      where: 'LINECLEAR_MODEL',
      what: 'no such model is configured',
      seen: `\`${model}\``,
      expected: nearestNames(model, gateway.routes()),
      next: 'correct the name; models of providers come with a later release',
    },
  ]);
}

function readAgent(
  file: string,
  text: string,
  fileOf: Map<string, string>,
  gateway: Pick<ModelGateway, 'describe' | 'routes'>,
): AgentDefinition {
  const { value, faultAt } = parseLocatedConfigFile(text, { file, schema: agentDefinitionSchema });
  const other = fileOf.get(value.agent);
  if (other !== undefined)
    throw new ConfigError([
      faultAt(['agent'], {
        what: `agent \`${value.agent}\` is defined in \`${other}\` too`,
        next: 'rename one of them',
      }),
    ]);
  fileOf.set(value.agent, file);
  const model = gateway.describe(value.model);
  if (!model)
    throw new ConfigError([
      faultAt(['model'], {
        what: 'no such model is configured',
        seen: `\`${value.model}\``,
        expected: nearestNames(value.model, gateway.routes()),
        next: 'correct the name, or add the model to models/',
      }),
    ]);
  if (value.maxOutputTokens > model.maxOutputTokens)
    throw new ConfigError([
      faultAt(['maxOutputTokens'], {
        what: `\`${value.model}\` cannot write that much`,
        seen: String(value.maxOutputTokens),
        expected: `at most ${model.maxOutputTokens}`,
        next: 'lower it',
      }),
    ]);
  return value;
}
