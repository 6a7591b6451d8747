import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProducerSockets } from './producer-sockets.js';

describe('the connections of a producer', () => {
  let server: Server;
  const accepted: Socket[] = [];

  beforeEach(async () => {
    server = createServer((socket) => void accepted.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    for (const socket of accepted.splice(0)) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  async function open(sockets: ProducerSockets): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = sockets.factory({ host: '127.0.0.1', port, ssl: {}, onConnect: resolve });
    await promise;
    return socket;
  }

  it('may come and go while it connects', async () => {
    const sockets = new ProducerSockets();
    const first = await open(sockets);
    first.destroy();
    await once(first, 'close');
    const second = await open(sockets);
    sockets.arm();
    expect(await sockets.during(() => Promise.resolve('sent'))).toBe('sent');
    second.destroy();
  });

  it('end what is under way when one is lost, and are never made anew', async () => {
    const sockets = new ProducerSockets();
    const socket = await open(sockets);
    sockets.arm();
    const sending = sockets.during(() => new Promise(() => undefined));
    socket.destroy();
    await expect(sending).rejects.toMatchObject({ code: 'broker-unavailable' });
    await expect(open(sockets)).rejects.toMatchObject({ code: 'broker-unavailable' });
    await expect(sockets.during(() => Promise.resolve('sent'))).rejects.toMatchObject({ code: 'broker-unavailable' });
  });
});
