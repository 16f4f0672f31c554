import { randomInt } from 'node:crypto';

/**
 * Ports below the range from which systems take the local ports of outgoing connections (32768 on Linux, 49152
 * elsewhere). No other program then gets a node's port while the node restarts.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** `count` different TCP ports of 127.0.0.1 on which nothing listens at the time of the call. */
export function freePorts(count: number): number[] {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!found.has(port) && isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
