import {
  approvalIdOf,
  authorizationIdOf,
  decisionIdOf,
  type Envelope,
  type EventData,
  type EventName,
  type ToolView,
} from '@lineclear/contracts';

/** An event of another service, as a test plays it. The same `id` twice is the same event twice. */
export type PeerEvent = {
  [N in EventName]: { readonly name: N; readonly data: EventData<N>; readonly id?: string };
}[EventName];

/** What the other services answer to an event of the orchestrator; undefined or nothing: silence. */
export type Peer = (event: Envelope, name: string) => readonly PeerEvent[] | undefined;

const LABEL = { confidentiality: 'internal', integrity: 'trusted' } as const;
type CallRef = Pick<EventData<'tool-call.proposed'>, 'callId' | 'turn' | 'index' | 'round' | 'stage'>;

export const refOf = ({ callId, turn, index, round, stage }: CallRef): CallRef => ({
  callId,
  turn,
  index,
  round,
  stage,
});

export const toolView = (name: string, given: Partial<ToolView['traits']> = {}): ToolView => ({
  name,
  alias: name.replaceAll('.', '_'),
  definitionHash: `hash of ${name}`,
  description: name,
  schema: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
  status: 'available',
  traits: {
    write: false,
    repeatable: true,
    leavesSystem: false,
    key: 'none',
    timeoutMs: 5000,
    unknownWaitMs: 0,
    ...given,
  },
});

export const resolved = (
  tools: readonly ToolView[] = [toolView('erp.get'), toolView('erp.post', { write: true })],
): PeerEvent => ({
  name: 'toolset.resolved',
  data: { toolsetHash: `of ${tools.length}`, tools: [...tools] },
});

export function authorized(proposed: EventData<'tool-call.proposed'>, edited = false): PeerEvent {
  const { callId, round, stage, tool, arguments: given, definitionHash, digest } = proposed;
  return {
    name: 'tool-call.authorized',
    id: `authorized ${callId} ${round}`,
    data: {
      ...refOf(proposed),
      decisionId: decisionIdOf(callId, round, stage),
      jws: 'x.y.z',
      claims: {
        jti: authorizationIdOf(callId, round, stage),
        tenant: 'acme',
        digest,
        exp: 2_000_000_000,
        policyVersion: 1,
      },
      tool,
      arguments: given,
      definitionHash,
      rules: ['read'],
      edited,
    },
  };
}

export function denied(proposed: EventData<'tool-call.proposed'>, terminal = false): PeerEvent {
  return {
    name: 'tool-call.denied',
    id: `denied ${proposed.callId}`,
    data: {
      ...refOf(proposed),
      decisionId: decisionIdOf(proposed.callId, proposed.round, proposed.stage),
      tool: proposed.tool,
      rules: ['no'],
      reason: 'not allowed',
      terminal,
      policyVersion: 1,
    },
  };
}

export function referred(proposed: EventData<'tool-call.proposed'>): PeerEvent {
  const { callId, round, stage, tool, arguments: given, definitionHash, digest } = proposed;
  return {
    name: 'tool-call.referred',
    id: `referred ${callId} ${round}`,
    data: {
      ...refOf(proposed),
      decisionId: decisionIdOf(callId, round, stage),
      tool,
      arguments: given,
      schema: {},
      definitionHash,
      digest,
      rules: ['big'],
      why: 'more than 5,000',
      label: LABEL,
      requester: 'inbox',
      approvers: ['finance'],
      fourEyes: true,
      expiresAt: '2030-01-01T00:00:00.000Z',
      validForMs: 900_000,
      policyVersion: 1,
    },
  };
}

export function granted({ callId, turn, index, round, digest }: EventData<'tool-call.proposed'>): PeerEvent {
  const approvalId = approvalIdOf(callId, round);
  const validUntil = '2030-01-01T00:00:00.000Z';
  return {
    name: 'approval.granted',
    id: `granted ${callId} ${round}`,
    data: { callId, turn, index, round, stage: 'first', approvalId, by: 'fiona', digest, validUntil },
  };
}

export function completed(
  proposed: EventData<'tool-call.proposed'>,
  given: Partial<EventData<'tool-call.completed'>> = {},
): PeerEvent {
  return {
    name: 'tool-call.completed',
    id: `completed ${proposed.callId} ${proposed.round}`,
    data: {
      ...refOf(proposed),
      tool: proposed.tool,
      status: 'succeeded',
      result: { text: `result of ${proposed.callId}` },
      label: LABEL,
      deduplicated: false,
      retryable: false,
      endedAt: '2026-01-01T00:00:00.000Z',
      ...given,
    },
  };
}

export function fenced({ n }: EventData<'run.stop-started'>, open: readonly string[] = []): PeerEvent {
  return { name: 'run.fenced', id: `fenced ${n}`, data: { n, open: [...open], settled: [] } };
}

/** A registry that knows two tools, a policy that allows everything, a tool that always succeeds. */
export const obliging: Peer = ({ data }, name) => {
  switch (name) {
    case 'run.started':
      return [resolved()];
    case 'tool-call.proposed': {
      const proposed = data as EventData<'tool-call.proposed'>;
      return [authorized(proposed), completed(proposed)];
    }
    case 'run.stop-started':
      return [fenced(data as EventData<'run.stop-started'>)];
    default:
      return undefined;
  }
};

/** A registry that answers and then nobody: the test publishes verdicts and results itself. */
export const onlyRegistry: Peer = (_event, name) => (name === 'run.started' ? [resolved()] : undefined);

/** Policy and registry answer, and so does the fence; the tool's result is the test's. */
export const neverCompletes: Peer = (event, name) => {
  if (name !== 'tool-call.proposed') return obliging(event, name);
  return [authorized(event.data as EventData<'tool-call.proposed'>)];
};

/** As the given one, but nothing comes for events of that name. */
export const silentOn =
  (silenced: EventName, peer: Peer): Peer =>
  (event, name) =>
    name === silenced ? undefined : peer(event, name);
