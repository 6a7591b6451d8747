// The checker outside the product: joins the ERP's ledger with the platform's decisions, over the public API alone.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LineclearClient } from '@lineclear/client';
import { DevelopmentIssuer } from '@lineclear/identity';
import { allDecisions } from './decisions.js';
import { readExpected } from './expected.js';
import { judgeLedger, ledgerHolds } from './judge-ledger.js';
import { readLedger } from './ledger.js';

const home = process.env['LINECLEAR_HOME'] ?? '.lineclear';
const instance = JSON.parse(await readFile(join(home, 'instance.json'), 'utf8')) as { url: string; batch: string };
const batch = process.argv[2] ?? instance.batch;
const tenant = `demo-${batch}`;
const issuer = await DevelopmentIssuer.open(home, { create: false });
if (issuer === undefined) throw new Error(`no development issuer in ${home}`);
const client = new LineclearClient({
  url: instance.url,
  token: await issuer.issue({ tenant, subject: 'checker', roles: ['operator'], scopes: [] }),
});

const lines = await readLedger(join(home, 'erp', `${tenant}.jsonl`));
const expected = await readExpected(fileURLToPath(new URL('../../', import.meta.url)));
const verdict = judgeLedger(lines, await allDecisions(client), expected);
process.stdout.write(`${JSON.stringify(verdict, null, 2)}\n`);
process.exitCode = ledgerHolds(verdict) ? 0 : 1;
