import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where one broker keeps its things. */
export interface BrokerFiles {
  readonly root: string;
  /** The broker's working folder, which holds nothing. */
  readonly data: string;
  readonly logDirs: string;
  readonly properties: string;
  readonly pid: string;
  readonly log: string;
}

export interface BrokerPorts {
  readonly client: number;
  readonly controller: number;
}

export function brokerFiles(root: string): BrokerFiles {
  return {
    root,
    data: join(root, 'data'),
    logDirs: join(root, 'log-dirs'),
    properties: join(root, 'server.properties'),
    pid: join(root, 'kafka.pid'),
    log: join(root, 'kafka.log'),
  };
}

/** Makes an empty broker with a new cluster id; what was there before is lost. */
export async function formatBroker(files: BrokerFiles, ports: BrokerPorts, jars: string): Promise<void> {
  await rm(files.logDirs, { recursive: true, force: true });
  await mkdir(files.data, { recursive: true });
  await writeFile(files.properties, properties(files, ports));
  const tool = [
    '-Xmx128m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-XX:-UsePerfData',
    '-cp',
    `${jars}/*`,
    'kafka.tools.StorageTool',
  ];
  await promisify(execFile)('java', [...tool, 'format', '--standalone', '-t', clusterId(), '-c', files.properties]);
}

function clusterId(): string {
  const id = randomBytes(16).toString('base64url');
  return id.startsWith('-') ? clusterId() : id;
}

function properties(files: BrokerFiles, ports: BrokerPorts): string {
  const client = `PLAINTEXT://127.0.0.1:${ports.client}`;
  return Object.entries({
    'process.roles': 'broker,controller',
    'node.id': '1',
    listeners: `${client},CONTROLLER://127.0.0.1:${ports.controller}`,
    'advertised.listeners': client,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${ports.controller}`,
    'log.dirs': files.logDirs,
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': '3',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    // A broker that was killed comes back only when its old session is over, by default after 9 s.
    'broker.heartbeat.interval.ms': '500',
    'broker.session.timeout.ms': '5000',
    'log.cleaner.dedupe.buffer.size': '16777216',
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
