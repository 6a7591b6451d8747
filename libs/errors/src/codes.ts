/**
 * Every error code of the product with its meaning.
 * CAUTION: codes are part of the public contract (HTTP problems, CLI output, recorded failures). Add freely, never rename or reuse one;
 * a new one needs its row in docs/reference/errors.md.
 */
export const ERROR_CODES = {
  internal: 'a bug or an unclassified fault of the platform; no detail is given outside',
  'invalid-message': 'an event or command does not match its schema',
  'invalid-request': 'an HTTP request or command line does not match what is expected',
  'unsupported-version': 'a message, file or database has a version that this release does not know',
  'unknown-type': 'an event has a type that this release does not know',
  'too-large': 'a payload exceeds its size limit',
  'invariant-violated': 'a rule that must always hold would be broken',
  'not-found': 'the thing does not exist, or not for this caller',
  'version-moved': 'the aggregate changed in between; read it again and repeat',
  'payload-mismatch': 'the same id or key was used before with another payload',
  'already-decided': 'the approval was decided or closed before',
  'already-ended': 'the run has ended',
  'attempt-open': 'an attempt of the call could still act, so its outcome cannot be set yet',
  fenced: 'this replica no longer owns the shard',
  unavailable: 'a needed part cannot be reached now',
  'database-unavailable': 'PostgreSQL cannot be reached now, or the connection was lost',
  'broker-unavailable': 'the message broker cannot be reached now',
  'rate-limited': 'the other side asks to slow down',
  'timed-out': 'the other side did not answer in time',
  overloaded: 'a bounded queue of the platform is full',
  cancelled: 'the work was stopped on purpose',
  refused: 'the request is understood and not granted',
  unauthorized: 'the caller could not be identified',
  forbidden: 'the caller is known and may not do this',
  'bad-config': 'a file or environment variable has a value that cannot be used',
  'address-in-use': 'a port that was asked for is taken',
  'folder-in-use': 'the data folder belongs to another running process',
  'folder-unusable': 'the data folder cannot be created, read or written',
  'database-not-started': 'the embedded PostgreSQL did not start',
  'database-not-ours': 'the database belongs to another installation or to something else',
  'wrong-shard-count': 'the database or topic was set up with another number of shards',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
