// node scripts/run.mjs FILE ARG...: prepares the checkout and runs one built file on Node 24.
import { handOver, prepare } from './bootstrap.mjs';

const [file, ...args] = process.argv.slice(2);
prepare();
handOver(file, args);
