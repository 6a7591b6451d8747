import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      { image: string; environment: Record<string, string>; ports: string[]; healthcheck: { test: string[] } }
    >
  >;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose = parse(readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')) as Compose;

describe('docker-compose.yml', () => {
  it('has Kafka and PostgreSQL with exact images, health checks and loopback ports', () => {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(['kafka', 'postgres']));
    for (const service of Object.values(compose.services)) {
      expect(service.image).toMatch(/:\d/);
      expect(service.healthcheck.test).not.toEqual([]);
      for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('runs Kafka as one KRaft node that creates no topic by itself', () => {
    const { environment } = compose.services['kafka'] ?? { environment: {} as Record<string, string> };
    expect(environment).toMatchObject({
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    });
    const replicated = Object.keys(environment).filter((name) => /REPLICATION_FACTOR|MIN_ISR/.test(name));
    expect(replicated).toHaveLength(5);
    for (const name of replicated) expect(environment[name]).toBe('1');
  });

  it('holds no password', () => {
    expect(compose.services['postgres']?.environment['POSTGRES_PASSWORD']).toMatch(
      /^\$\{LINECLEAR_POSTGRES_PASSWORD:\?/,
    );
  });
});
