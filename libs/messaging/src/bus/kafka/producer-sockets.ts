import { connect } from 'node:net';
import { TransientError } from '@lineclear/errors';
import type { ISocketFactory } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;

/**
 * The connections of one producer. kafkajs would connect anew by itself and send into whatever answers: after a loss of the broker's data, events
 * from the middle of the log would then be the first of the new one. So the first lost connection ends the producer.
 */
export class ProducerSockets {
  #isArmed = false;
  #isOver = false;
  #giveUp: ((error: unknown) => void) | undefined;

  /** The producer has connected: from now on every loss counts. */
  arm(): void {
    this.#isArmed = true;
  }

  /** Does one thing at a time; rejects at once when a connection is lost, whatever kafkajs still tries. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isOver) throw lost();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#giveUp = reject;
    work().then(resolve, reject);
    return await promise;
  }

  readonly factory: ISocketFactory = ({ host, port, onConnect }) => {
    if (this.#isOver) throw lost();
    const socket = connect({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.once('close', () => this.#closed());
    return socket;
  };

  #closed(): void {
    if (!this.#isArmed) return;
    this.#isOver = true;
    this.#giveUp?.(lost());
  }
}

function lost(): TransientError {
  return new TransientError('broker-unavailable', 'the connection to the broker was lost');
}
