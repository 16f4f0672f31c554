import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test';
import { type Binaries, findBinaries } from './binaries.ts';
import { type Network, startNetwork } from './network.ts';

/** Ample: a network is up within 10 s on two idle cores. */
const START_WITHIN_MS = 180_000;
const TEST_WITHIN_MS = 180_000;

/**
 * A `describe` for each LND that is given, whose tests share one network of their own: started before them, gone
 * after them, failed or not. Where lnd or btcd is missing its tests are skipped, with one loud line. Call
 * `network()` inside tests and hooks only.
 */
export function describeNetwork(name: string, tests: (network: () => Network) => void): void {
  const given = findBinaries();
  // Real nodes take their time: a restart some seconds, a payment that was never sent longer.
  setDefaultTimeout(TEST_WITHIN_MS);
  if (given.length === 0) describe.skip(name, () => tests(() => none()));
  for (const binaries of given) {
    describe(`${name} (LND ${binaries.lndVersion})`, () => tests(networkOf(binaries)));
  }
}

function networkOf(binaries: Binaries): () => Network {
  let started: Network | null = null;
  beforeAll(async () => {
    started = await startNetwork(binaries);
  }, START_WITHIN_MS);
  afterAll(() => started?.stop());
  return () => started ?? none();
}

function none(): never {
  throw new Error('The network is up only during tests and their hooks.');
}
