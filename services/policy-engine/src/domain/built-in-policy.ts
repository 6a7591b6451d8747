/**
 * Shipped with the product and part of every set: tools of the platform that only reach what the run already owns (the registry checks that a
 * handle is the run's own). A deny or ask rule of yours that covers them still wins.
 */
export const BUILT_IN_POLICY = `policy: built-in
version: 1
rules:
  - {id: built-in.read_result, allow: read_result}
`;
