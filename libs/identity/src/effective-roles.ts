/**
 * Roles that a run acts with: the caller's that the agent's definition names too, in the caller's order. Neither side can add any, so an agent
 * never has more than the person who asked, nor more than its author foresaw.
 */
export function effectiveRoles(callerRoles: readonly string[], agentRoles: readonly string[]): string[] {
  const allowed = new Set(agentRoles);
  return [...new Set(callerRoles)].filter((role) => allowed.has(role));
}
