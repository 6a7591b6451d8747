import { SERVICES } from '@lineclear/contracts';
import { generateKeyPairSync } from 'node:crypto';
import { isSignedBy, readJws, signJws } from '@lineclear/identity';

type Counters = ReadonlyMap<string, number>;

/** Where the time went, per step: what each service decided (the policy engine's share holds Cedar and signatures) and what its statements took. */
export interface InsideFigures {
  readonly inputsPerCommit: Readonly<Record<string, number>>;
  readonly decideMsPerStep: Readonly<Record<string, number>>;
  readonly databaseMsPerStep: Readonly<Record<string, number>>;
  readonly commitsPerStep: number;
  readonly signAndVerifyMs: number;
}

/** The platform's counters at this moment. */
export async function readCounters(url: string): Promise<Counters> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counters = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = /^lineclear_lane_(\w+?)(?:_total)?\{([^}]*)\}\s+(\S+)/.exec(line);
    const service = /service="([^"]+)"/.exec(match?.[2] ?? '')?.[1];
    if (match?.[1] !== undefined && service !== undefined) counters.set(`${service} ${match[1]}`, Number(match[3]));
  }
  return counters;
}

export function insideFigures(before: Counters, after: Counters, steps: number): InsideFigures {
  const grown = (service: string, name: string) =>
    (after.get(`${service} ${name}`) ?? 0) - (before.get(`${service} ${name}`) ?? 0);
  const perService = (figure: (service: string) => number) =>
    Object.fromEntries(SERVICES.map((service) => [service, Math.round(figure(service) * 1000) / 1000]));
  return {
    inputsPerCommit: perService((service) => grown(service, 'inputs') / Math.max(1, grown(service, 'commits'))),
    decideMsPerStep: perService((service) => grown(service, 'decide_ms') / steps),
    databaseMsPerStep: perService((service) => grown(service, 'database_ms') / steps),
    commitsPerStep:
      Math.round(
        (SERVICES.reduce((sum, service) => sum + grown(service, 'commits') - grown(service, 'commits_shared'), 0) /
          steps) *
          100,
      ) / 100,
    signAndVerifyMs: signAndVerifyMs(),
  };
}

/** One authorization signed and verified, alone on the thread. */
function signAndVerifyMs(): number {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const payload = JSON.stringify({ digest: 'x'.repeat(64), jti: 'x'.repeat(28), sub: 'x'.repeat(40), exp: 1 });
  const rounds = 300;
  const started = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    const jws = readJws(signJws({ kid: 'bench' }, payload, privateKey));
    if (jws === undefined || !isSignedBy(jws, publicKey)) throw new Error('the signature does not verify');
  }
  return Math.round(((performance.now() - started) / rounds) * 1000) / 1000;
}
