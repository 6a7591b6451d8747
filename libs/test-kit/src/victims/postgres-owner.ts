import { writeSync } from 'node:fs';
import { startEmbeddedPostgres, startTemporaryPostgres } from '@lineclear/persistence';

/** Owns an embedded PostgreSQL until it is killed; prints its process id. */
const [dataDir] = process.argv.slice(2);
const server = dataDir === undefined ? await startTemporaryPostgres() : await startEmbeddedPostgres({ dataDir });
writeSync(1, `${server.pid}\n`);
setInterval(() => undefined, 60_000);
