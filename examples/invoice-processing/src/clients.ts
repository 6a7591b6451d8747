import { LineclearClient } from '@lineclear/client';
import type { DevelopmentIssuer } from '@lineclear/identity';
import type { Batch } from './batch.js';

export interface DemoClients {
  /** drops invoices into the inbox */
  readonly inbox: LineclearClient;
  /** the same without the role that posting needs */
  readonly intern: LineclearClient;
  /** decides approvals; never the requester */
  readonly approver: LineclearClient;
  /** reads and replays */
  readonly operator: LineclearClient;
}

const PEOPLE = {
  inbox: { subject: 'inbox', roles: ['ap-clerk'] },
  intern: { subject: 'intern', roles: [] },
  approver: { subject: 'frieda', roles: ['finance'] },
  operator: { subject: 'otto', roles: ['operator'] },
} as const;

const RENEW_MS = 10 * 60_000;

/** One client per person of the demo, each with tokens of the development issuer for the batch's tenant. */
export function demoClients(url: string, issuer: DevelopmentIssuer, batch: Batch): DemoClients {
  const clientOf = ({ subject, roles }: { subject: string; roles: readonly string[] }) => {
    const token = renewing(() => issuer.issue({ tenant: batch.tenant, subject, roles: [...roles], scopes: [] }));
    return new LineclearClient({ url, token });
  };
  return {
    inbox: clientOf(PEOPLE.inbox),
    intern: clientOf(PEOPLE.intern),
    approver: clientOf(PEOPLE.approver),
    operator: clientOf(PEOPLE.operator),
  };
}

/** A token that is made anew after RENEW_MS. */
function renewing(issue: () => Promise<string>): () => Promise<string> {
  let made = { at: -Infinity, token: Promise.resolve('') };
  return () => {
    if (performance.now() - made.at > RENEW_MS) made = { at: performance.now(), token: issue() };
    return made.token;
  };
}
