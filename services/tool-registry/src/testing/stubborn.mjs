// Ignores the end of its input and SIGTERM, and has a child that does so too. Prints both process ids.
import { spawn } from 'node:child_process';

process.on('SIGTERM', () => undefined);
process.stdin.resume();
setInterval(() => undefined, 1_000);
const isChild = process.argv[2] === 'child';
const child = isChild ? undefined : spawn(process.execPath, [process.argv[1], 'child'], { stdio: 'ignore' });
if (!isChild) process.stdout.write(`${process.pid} ${child.pid}\n`);
