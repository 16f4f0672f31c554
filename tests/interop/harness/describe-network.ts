import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test';
import { type Binaries, findBinaries } from './binaries.ts';
import { type Network, startNetwork } from './network.ts';

/** Time limit for starting a network, which takes 10 seconds on two idle cores. */
const START_WITHIN_MS = 180_000;
const TEST_WITHIN_MS = 180_000;

/**
 * Runs the tests once for each LND that was found. The tests of one LND share one network, which is started before them
 * and removed after them, even if they fail. Where lnd or btcd is missing the tests are skipped, with one conspicuous
 * line. Call `network()` inside tests and hooks only.
 */
export function describeNetwork(name: string, tests: (network: () => Network) => void): void {
  const given = findBinaries();
  // Real nodes are slow: a restart takes some seconds, and finding out that a payment was never sent takes longer.
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
