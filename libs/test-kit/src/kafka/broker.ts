import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Guard } from '@lineclear/persistence';
import { Kafka, logLevel } from 'kafkajs';
import { kafkaAvailability } from './availability.js';
import { type BrokerFiles, type BrokerPorts, brokerFiles, formatBroker } from './broker-files.js';
import { infraKafka } from './infra-folder.js';
import { fetchJars } from './jars.js';

export interface KafkaBroker {
  /** Bootstrap addresses, the same over restarts. */
  readonly brokers: readonly string[];
  /** Process id of the broker that runs now. */
  readonly pid: number;
  /** Ends it in order and removes its files. May be called again. */
  stop(): Promise<void>;
  /** Ends it like a lost machine; the files stay. */
  kill(): Promise<void>;
  /** Starts it again on the same address after `kill`, or ends it in order first. With `wipe` all its data is gone. */
  restart(options?: { readonly wipe?: boolean }): Promise<void>;
}

export interface KafkaBrokerOptions {
  /** Port for clients; default a free one. */
  readonly port?: number;
}

const START_TIMEOUT_MS = 120_000;
const JAVA = ['java', '-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:-UsePerfData'];

/**
 * Starts a real Apache Kafka: one node, KRaft, files in a temporary folder. It ends with this process, however that ends, and then its
 * files too. The first start on a machine fetches the jars.
 * @throws Error with the end of the broker's log when it does not start
 */
export async function startKafka(options: KafkaBrokerOptions = {}): Promise<KafkaBroker> {
  const jars = await fetchJars();
  const broker = new LocalBroker(brokerFiles(await mkdtemp(join(tmpdir(), 'lineclear-kafka-'))), jars, {
    client: options.port ?? (await freePort()),
    controller: await freePort(),
  });
  await broker.restart({ wipe: true });
  return broker;
}

const SINGLETON = Symbol.for('lineclear.kafka-brokers');
type Holder = { [SINGLETON]?: Promise<readonly string[]> | undefined };

/**
 * Addresses of the Kafka that the suites of this test process share: KAFKA_BROKERS, or one of our own, started at the first call (about 5 s)
 * and ended with the process. Use own topics and groups in it; tests that stop the broker take `startKafka`.
 */
export function sharedKafka(): Promise<readonly string[]> {
  const holder = globalThis as Holder;
  holder[SINGLETON] ??= kafkaAvailability().then(async (found) => {
    if (found.kind === 'missing') throw new Error(found.reason);
    return found.kind === 'external' ? found.brokers : (await startKafka()).brokers;
  });
  return holder[SINGLETON];
}

class LocalBroker implements KafkaBroker {
  readonly brokers: readonly string[];
  pid = 0;
  #guard: Guard | undefined;

  constructor(
    private readonly files: BrokerFiles,
    private readonly jars: string,
    private readonly ports: BrokerPorts,
  ) {
    this.brokers = [`127.0.0.1:${ports.client}`];
  }

  async restart(options: { readonly wipe?: boolean } = {}): Promise<void> {
    await this.#signal('SIGTERM');
    if (options.wipe === true) await formatBroker(this.files, this.ports, this.jars);
    this.#guard = await this.#launch();
    await this.#awaitReady(this.#guard);
    this.pid = Number(await readFile(this.files.pid, 'utf8'));
  }

  kill(): Promise<void> {
    return this.#signal('SIGKILL');
  }

  async stop(): Promise<void> {
    this.#guard?.release();
    await this.#guard?.exited;
    await rm(this.files.root, { recursive: true, force: true });
  }

  /** Past the guard, since releasing that would remove the files. */
  async #signal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#guard === undefined || this.#guard.isOver) return;
    process.kill(this.pid, signal);
    await this.#guard.stopped(this.pid);
  }

  async #launch(): Promise<Guard> {
    await rm(this.files.pid, { force: true });
    const log = await open(this.files.log, 'w');
    try {
      return new Guard({
        program: '/bin/sh',
        args: ['-c', 'echo $$ > ../kafka.pid; exec "$@"', 'kafka', ...this.#command()],
        cwd: this.files.data,
        user: undefined,
        logFd: log.fd,
        stopSignal: 'TERM',
        removeAtEnd: this.files.root,
      });
    } finally {
      await log.close();
    }
  }

  #command(): readonly string[] {
    return [
      ...JAVA,
      `-Dlog4j2.configurationFile=${infraKafka('log4j2.properties')}`,
      '-cp',
      `${this.jars}/*`,
      'kafka.Kafka',
      this.files.properties,
    ];
  }

  async #awaitReady(guard: Guard): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await answers(this.brokers))) {
      if (guard.isOver || performance.now() > deadline) {
        const output = await readFile(this.files.log, 'utf8').catch(() => '');
        await this.stop();
        throw new Error(`Kafka did not start: ${output.slice(-2_000)}`);
      }
      await delay(100);
    }
  }
}

async function answers(brokers: readonly string[]): Promise<boolean> {
  const admin = new Kafka({
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    retry: { retries: 0 },
  }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length > 0;
  } catch {
    return false;
  } finally {
    await admin.disconnect();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
