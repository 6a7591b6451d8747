import { fileURLToPath } from 'node:url';

/** A path in infra/kafka, from the sources and from the build alike. */
export function infraKafka(name: string): string {
  return fileURLToPath(new URL(`../../../../infra/kafka/${name}`, import.meta.url));
}

/** Downloads that are not in git, and survive a clean build. */
export function cacheFolder(name: string): string {
  return fileURLToPath(new URL(`../../../../.cache/${name}`, import.meta.url));
}
