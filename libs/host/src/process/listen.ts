import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '@lineclear/errors';

export interface ListenOptions {
  readonly host: string;
  /** 0: a free one */
  readonly port: number;
  /** what the operator set the port with, for the message */
  readonly where: string;
}

/** Starts listening and answers the base URL. Throws ConfigError `address-in-use`, or `bad-config` for an address that is not ours or not allowed. */
export async function listen(server: Server, { host, port, where }: ListenOptions): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(asConfigError(error, { host, port, where }));
    server.once('error', failed);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', failed);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

function asConfigError(error: NodeJS.ErrnoException, { host, port, where }: ListenOptions): Error {
  const taken = error.code === 'EADDRINUSE';
  return new ConfigError(
    [
      {
        where,
        what: taken ? `port ${port} of ${host} is taken` : `cannot listen on ${host}:${port}`,
        seen: `\`${error.code ?? error.message}\``,
        next: taken
          ? 'stop the other process, or choose another port (0: a free one)'
          : 'choose another address or port',
      },
    ],
    { code: taken ? 'address-in-use' : 'bad-config', cause: error },
  );
}
