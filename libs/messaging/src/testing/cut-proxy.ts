import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP proxy before PostgreSQL that loses answers and connections when the test says so. */
export class CutProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #swallows: ((data: Buffer) => boolean) | undefined;
  #isDown = false;
  /** how many answers were lost */
  cuts = 0;

  private constructor(private readonly target: { readonly host: string; readonly port: number }) {
    this.#server = createServer((client) => this.#accept(client));
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<CutProxy> {
    const proxy = new CutProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The next answer that matches is lost together with its connection: what it answers has happened. */
  loseAnswer(matches: (data: Buffer) => boolean): void {
    this.#swallows = matches;
  }

  /** Cuts all connections; new ones are refused until `up`. */
  down(): void {
    this.#isDown = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  up(): void {
    this.#isDown = false;
  }

  async stop(): Promise<void> {
    this.down();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#isDown) return void client.destroy();
    const server = connect(this.target.port, this.target.host);
    this.#sockets.add(client).add(server);
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => {
      if (this.#swallows?.(data) !== true) return void client.write(data);
      this.#swallows = undefined;
      this.cuts += 1;
      client.destroy();
      server.destroy();
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
