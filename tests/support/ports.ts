import { randomInt } from 'node:crypto';

/**
 * Below the range from which systems take the local ports of outgoing connections (32768 on Linux,
 * 49152 elsewhere), so that nobody is handed the port of a program while it is being restarted.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A TCP port on which nothing listens on 127.0.0.1 at the moment of the call. */
export function freePort(): number {
  const [port = 0] = freePorts(1);
  return port;
}

/** `count` different TCP ports on which nothing listens on 127.0.0.1 at the moment of the call. */
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
