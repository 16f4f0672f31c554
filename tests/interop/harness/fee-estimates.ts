/**
 * The fee rates for each number of blocks, in satoshis per 1,000 virtual bytes. The rates of the priorities differ by
 * enough that a send of one is worth a raise to another.
 */
const SAT_PER_KVBYTE = {
  1: 50_000,
  3: 25_000,
  6: 12_000,
  72: 5_000,
} as const;

/** The fee rate for a number of blocks, in satoshis per 1,000 virtual bytes, as LND finds it in the list. */
export function satPerKvbyteFor(blocks: number): number {
  const nearest = Object.entries(SAT_PER_KVBYTE).findLast(([within]) => Number(within) <= blocks);
  return nearest?.[1] ?? SAT_PER_KVBYTE[1];
}

/** The same for each number of blocks, in satoshis per virtual byte, as Esplora tells it. */
export const SAT_PER_VBYTE: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(SAT_PER_KVBYTE).map(([within, rate]) => [within, rate / 1000]),
);

/** A source of fee rates for LND, in the form of its `fee.url`. */
export interface FeeEstimates {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves fee rates on loopback. A regtest chain has too few transactions for an estimate, and without one LND has the
 * same rate for every number of blocks, or others by release.
 */
export function startFeeEstimates(): FeeEstimates {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ fee_by_block_target: SAT_PER_KVBYTE, min_relay_feerate: 1000 }),
  });
  // Only the tests keep the process alive.
  server.unref();
  return { url: server.url.href, stop: () => server.stop(true) };
}
