/**
 * No node begins to pay an expired invoice. This much later by its own clock, no request on its way can be accepted any
 * more (docs/decisions.md 37).
 */
const AFTER_EXPIRY_MS = 10 * 60_000;

/** Whether an invoice expired so long ago, by the node's clock, that a send of it can begin no more. */
export function isLongExpired(expiresAtMs: number, nodeMs: number): boolean {
  return nodeMs >= expiresAtMs + AFTER_EXPIRY_MS;
}
