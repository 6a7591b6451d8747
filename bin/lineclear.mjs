#!/usr/bin/env node
import { handOver, prepare } from '../scripts/bootstrap.mjs';

prepare();
handOver('libs/cli/dist/main.js', process.argv.slice(2));
