// Plain JavaScript for Node 20.19 and newer: runs before anything is installed.
// Installs the locked dependencies when they are missing or changed, builds, and hands over to Node 24 from node_modules.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The first is set before the policy engine loads its WebAssembly; without it V8 can kill the process under load. The others weigh memory
 * against the collector's work: larger nurseries and a heap that grows by more cost less CPU and more memory. Beside these, a growth of 40 percent saved
 * 60 MiB and cost a twentieth of the CPU.
 */
export const NODE_FLAGS = ['--no-turbo-inline-js-wasm-calls', '--max-semi-space-size=16', '--heap-growing-percent=100'];

const say = (text) => process.stderr.write(`lineclear: ${text}\n`);

function fail(text) {
  say(text);
  process.exit(1);
}

/** npm writes its own note last, so that an install that broke off leaves none. */
function isInstalled() {
  const note = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return note !== undefined && note.mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
}

/** @returns {{ command: string, leading: string[] }} npm as the caller's own, never through node_modules/.bin: `npm ci` deletes that Node while it runs. */
function npmCommand() {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  if (node && npm && !node.startsWith(join(root, 'node_modules'))) return { command: node, leading: [npm] };
  return { command: 'npm', leading: [] };
}

function pathWithoutOwnBin() {
  const own = join(root, 'node_modules', '.bin');
  return (process.env.PATH ?? '')
    .split(':')
    .filter((part) => part !== own)
    .join(':');
}

function install() {
  if (isInstalled()) return;
  say('installing the locked dependencies (once, about a minute) ...');
  const started = Date.now();
  const { command, leading } = npmCommand();
  const result = spawnSync(command, [...leading, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutOwnBin(), npm_config_production: undefined, NODE_ENV: undefined },
    stdio: ['ignore', 2, 2],
  });
  if (result.error) fail(`npm could not be started: ${result.error.message}; install Node 20.19 or newer with npm`);
  if (result.status !== 0) fail(`npm ci failed with exit code ${result.status}; see the lines above, then start again`);
  say(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Node 24: the one that npm installed (Linux), else the caller's own if it is new enough. */
export function nodePath() {
  const own = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(own)) return own;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  return fail(
    `no Node 24 for ${process.platform}-${process.arch} in the dependencies and this is ${process.version}; install Node 24`,
  );
}

export function environment() {
  return { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${pathWithoutOwnBin()}` };
}

function build() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const first = !existsSync(join(root, 'libs', 'errors', 'dist'));
  if (first) say('building (once) ...');
  const result = spawnSync(nodePath(), [tsc, '-b'], { cwd: root, env: environment(), stdio: ['ignore', 2, 2] });
  if (result.status !== 0) fail('the build failed; see the lines above');
}

/** Dependencies and build output are there when this returns. */
export function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node ${process.version} is too old; install Node 20.19 or newer`);
  install();
  build();
}

/** Replaces this process by Node 24 running `script` where the platform can, else runs it as a child that ends with this process. */
export function handOver(script, args) {
  const node = nodePath();
  const argv = [...NODE_FLAGS, join(root, script), ...args];
  const env = environment();
  if (typeof process.execve === 'function') {
    process.removeAllListeners('warning');
    process.on('warning', () => {});
    process.execve(node, [node, ...argv], env);
  }
  // The channel tells the child when this process is gone, even by kill -9.
  const child = spawn(node, argv, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...env, LINECLEAR_PARENT: 'ipc' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
  child.on('error', (error) => fail(`Node 24 could not be started: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + 15 : (code ?? 1)));
}
