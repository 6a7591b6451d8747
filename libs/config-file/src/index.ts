export { type ConfigFileOptions, type LocatedConfig, parseConfigFile, parseLocatedConfigFile } from './config-file.js';
