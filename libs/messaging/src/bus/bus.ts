import type { Envelope, Headers, ServiceName, Topic } from '@lineclear/contracts';

/** A record of the bus. `partition` is the shard of its key, `offset` counts from 0 without gaps in embedded mode, with gaps on Kafka. */
export interface BusRecord {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string | null;
  readonly headers: Headers;
  /** null: tombstone */
  readonly value: string | null;
  /** Handed over in the process: the event as its producer emitted it, already valid. CAUTION: shared with the producer and other consumers; never changed. */
  readonly event?: Envelope;
}

export interface BusPosition {
  readonly topic: Topic;
  readonly partition: number;
  /** next offset to read */
  readonly next: bigint;
}

/** How far the relay has sent a log, and what tells whether the broker still has it. */
export interface PublishedPosition extends BusPosition {
  /** the broker's offset of the last record that it stored; offsets of a topic only grow, unless it was emptied */
  readonly brokerOffset?: bigint;
  /** mark of the cluster that it was sent to */
  readonly cluster?: bigint;
}

/** The lane's side of a membership. Calls never overlap for one shard. */
export interface BusSink {
  /**
   * Takes the shards (fenced); resolves with the positions to read from where the lane keeps them, empty where the broker does. Records of the shards that are
   * delivered before it resolves are thrown away.
   */
  assigned(shards: readonly number[]): Promise<readonly BusPosition[]>;
  /** The shards are gone or going: queued inputs of them are discarded, running statements of them will be fenced. */
  revoked(shards: readonly number[]): Promise<void>;
  /** Enqueues, never blocks and never throws; order is kept per topic and partition. Returns the bytes now queued, for back-pressure. */
  deliver(records: readonly BusRecord[]): number;
  /** The membership cannot go on (fatal); readiness turns red and the host exits. */
  failed(error: unknown): void;
  /** What the relay has sent of this service's log, for the shards owned now: `next` is the first offset not yet sent. */
  published(): readonly PublishedPosition[];
  /** Sets what the relay has sent, in the next fenced statement. Resolves when it is committed; rejects with ConflictError(`fenced`) when the shard is lost. */
  publish(positions: readonly PublishedPosition[]): Promise<void>;
}

export interface JoinOptions {
  readonly service: ServiceName;
  readonly topics: readonly Topic[];
  readonly sink: BusSink;
}

/**
 * Delivery: at least once, in order per topic and partition. A record may come again after a restart, a rebalance or a rollback of the position;
 * order across topics is not kept.
 */
export interface BusMembership {
  /** After the commit: everything below `next` is done. Kafka commits its watermark, the embedded bus has it in the lane's statement already. */
  acknowledge(positions: readonly BusPosition[]): void;
  /** After the commit: records appended to this service's log, for hand-over in the process or to wake the relay. Never blocks. */
  appended(records: readonly BusRecord[]): void;
  /** true while every shard that this member should own is assigned and read */
  ready(): boolean;
  /**
   * Whether a record that is being appended would be delivered next, once it is committed and after `ahead` others of its topic and partition. Absent where
   * nothing can be known of a record before it comes.
   */
  isNext?(record: BusRecord, ahead: number): boolean;
  /** A shard was fenced: give it back and ask for it again if it is still ours. */
  retake(shards: readonly number[]): Promise<void>;
  /**
   * Everything of this service's log below that offset was read by all its readers; undefined when the bus does not know, and absent where the relay's
   * `published` says it.
   */
  readTo?(topic: Topic, partition: number): bigint | undefined;
  /** Bytes queued by the sink fell below the mark: resume reading. */
  drained(): void;
  /** A graceful stop begins: no further records are delivered; everything else goes on until `stop`. */
  pause(): Promise<void>;
  stop(): Promise<void>;
}

/** Where positions live: in the lane's statement (`lane`) or with the broker (`broker`). Never the dedupe. */
export interface Bus {
  readonly positions: 'lane' | 'broker';
  /** true: this process is the only one on its database, so that any other owner found there is dead */
  readonly isExclusive: boolean;
  join(options: JoinOptions): Promise<BusMembership>;
  stop(): Promise<void>;
}
