import { DevelopmentIssuer } from '@lineclear/identity';
import { homeOf } from '../connection.js';
import { diagnose } from '../doctor.js';
import { EXIT, required, text, UsageError, type Verb } from '../verb.js';

export const localVerbs: readonly Verb[] = [
  {
    name: 'token',
    usage: '--subject NAME --tenant TENANT [--roles A,B] [--minutes N]',
    what: 'a bearer token of the development issuer, for curl; never for production',
    texts: ['subject', 'roles', 'minutes'],
    run: async (context) => {
      const home = homeOf(context.environment);
      const issuer = await DevelopmentIssuer.open(home, { create: false });
      if (issuer === undefined)
        throw new UsageError(
          `there is no development issuer in \`${home}\`; start the platform once with \`npm start\``,
        );
      const minutes = Number(text(context, 'minutes') ?? '60');
      if (!Number.isInteger(minutes) || minutes < 1)
        throw new UsageError(`\`--minutes\` is \`${text(context, 'minutes')}\`, expected a whole number from 1`);
      const roles = (text(context, 'roles') ?? '').split(',').filter((role) => role !== '');
      const token = await issuer.issue({
        tenant: required(context, 'tenant'),
        subject: required(context, 'subject'),
        roles,
        scopes: [],
        lifetimeSeconds: minutes * 60,
      });
      context.output.say('development token: anyone who can read the data folder can make one');
      if (context.json) context.output.data([{ token }]);
      else context.output.raw(token);
    },
  },
  {
    name: 'doctor',
    usage: '',
    what: 'check Node, the data folder, the port, the database and the platform; exit 1 when something is wrong',
    run: async (context) => {
      const findings = await diagnose(context.environment, context.client);
      context.output.data(findings, ['check', 'ok', 'seen', 'next']);
      return findings.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
    },
  },
];
