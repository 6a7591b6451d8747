export type { Platform, PlatformOptions } from './platform.js';
export { startPlatform } from './services.js';
