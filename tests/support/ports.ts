import { randomInt } from 'node:crypto';

/**
 * Below the range from which systems take the local ports of outgoing connections (32768 on Linux,
 * 49152 elsewhere), so that nobody is handed the port of a program while it is being restarted.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;
/**
 * Each worker of `bun test --parallel` draws from a part of its own: a program binds its port a while after it was
 * chosen, and no other worker may choose it meanwhile. Bun numbers them from 1; a process without a number draws from
 * the whole range.
 */
const PARTS = 12;
const worker = Number(process.env.JEST_WORKER_ID ?? 0);
const size = (HIGHEST - LOWEST) / (worker === 0 ? 1 : PARTS);
const lowest = LOWEST + (worker % PARTS) * size;

/** What this process was given, and may not have bound yet. */
const given = new Set<number>();

/** A TCP port on which nothing listens on 127.0.0.1 at the moment of the call. */
export function freePort(): number {
  const [port = 0] = freePorts(1);
  return port;
}

/** `count` different TCP ports on which nothing listens on 127.0.0.1 at the moment of the call. */
export function freePorts(count: number): number[] {
  const found = new Set<number>();
  while (found.size < count) {
    if (given.size === size) given.clear();
    const port = lowest + randomInt(size);
    if (given.has(port)) continue;
    given.add(port);
    if (isFree(port)) found.add(port);
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
