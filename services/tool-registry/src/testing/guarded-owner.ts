import { GuardedProcess } from '../adapters/mcp/guarded-process.js';

const program = process.argv[2] ?? '';
const guarded = new GuardedProcess({ command: [process.execPath, program], cwd: '/', env: {} });
guarded.stdout.on('data', (chunk: Buffer) => process.stdout.write(`${guarded.pid} ${chunk.toString()}`));
