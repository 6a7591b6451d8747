import { runProcess } from '@lineclear/host';
import { createLogger } from '@lineclear/telemetry';
import { startPlatform } from './services.js';

const { env } = process;
const environment = { ...env, LOG_LEVEL: env['LOG_LEVEL'] ?? 'info' };
const log = createLogger({ service: 'platform', level: environment.LOG_LEVEL });
const say = (line: string): void => void process.stderr.write(`lineclear: ${line}\n`);

await runProcess(
  async () => {
    const platform = await startPlatform({
      environment,
      projectDir: env['LINECLEAR_PROJECT'] ?? '.',
      homeDir: env['LINECLEAR_HOME'] ?? '.lineclear',
    });
    say(`serving at ${platform.url}`);
    return platform;
  },
  { say, log: (error, message) => log.error({ err: error }, message) },
);
