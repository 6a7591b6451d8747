import { handOver, prepare } from './bootstrap.mjs';

prepare();
handOver('examples/invoice-processing/dist/src/start.js', process.argv.slice(2));
