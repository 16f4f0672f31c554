import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test';
import { findBinaries, findClnBinaries } from './binaries.ts';
import type { OnChain } from './chain.ts';
import { type ClnNetwork, startClnNetwork } from './cln-network.ts';
import { type ClnPartsNetwork, startClnPartsNetwork } from './cln-parts-network.ts';
import type { LndDatabase } from './lnd.ts';
import { type MixedNetwork, startMixedNetwork } from './mixed-network.ts';
import { type Network, startNetwork } from './network.ts';

/** Time limit for starting a network, which takes 10 seconds on two idle cores. */
const START_WITHIN_MS = 180_000;
const TEST_WITHIN_MS = 180_000;

/**
 * Runs the tests once for each LND that was found. The tests of one LND share one network, which is started before them
 * and removed after them, even if they fail. Where lnd or btcd is missing the tests are skipped, with one conspicuous
 * line. Call `network()` inside tests and hooks only.
 *
 * The node alice has the database of LND_DATABASE (bbolt if unset), or each that `databases` returns for a version.
 */
export function describeNetwork(
  name: string,
  tests: (network: () => Network) => void,
  databases: (version: string) => readonly LndDatabase[] = () => [usualDatabase()],
): void {
  const networks = findBinaries().flatMap((binaries) =>
    databases(binaries.lndVersion).map((database) => ({
      title: `LND ${binaries.lndVersion}${database === 'bbolt' ? '' : `, ${database}`}`,
      start: () => startNetwork(binaries, { database }),
    })),
  );
  describeEach(name, networks, tests);
}

function usualDatabase(): LndDatabase {
  const named = process.env.LND_DATABASE;
  return named === 'sqlite' || named === 'native-sql' ? named : 'bbolt';
}

/** Whether this release can keep payments in tables of their own. */
export function hasNativeSql(version: string): boolean {
  const [, minor = '0'] = version.split('.');
  return Number(minor) >= 21;
}

/** {@link describeNetwork} for each Core Lightning that was found. */
export function describeClnNetwork(name: string, tests: (network: () => ClnNetwork) => void): void {
  const networks = findClnBinaries().map((binaries) => ({
    title: `Core Lightning ${binaries.clnVersion}`,
    start: () => startClnNetwork(binaries),
  }));
  describeEach(name, networks, tests);
}

/** {@link describeNetwork} for each Core Lightning that was found, on three of its nodes. */
export function describeClnPartsNetwork(
  name: string,
  tests: (network: () => ClnPartsNetwork) => void,
): void {
  const networks = findClnBinaries().map((binaries) => ({
    title: `Core Lightning ${binaries.clnVersion}`,
    start: () => startClnPartsNetwork(binaries),
  }));
  describeEach(name, networks, tests);
}

/** {@link describeNetwork} for each Core Lightning that was found, with the first LND that was found. */
export function describeMixedNetwork(
  name: string,
  tests: (network: () => MixedNetwork) => void,
): void {
  const networks = findBinaries()
    .slice(0, 1)
    .flatMap((lnd) =>
      findClnBinaries().map((cln) => ({
        title: `LND ${lnd.lndVersion} and Core Lightning ${cln.clnVersion}`,
        start: () => startMixedNetwork(lnd, cln),
      })),
    );
  describeEach(name, networks, tests);
}

interface Startable<T> {
  readonly title: string;
  start(): Promise<T>;
}

function describeEach<T extends OnChain>(
  name: string,
  networks: readonly Startable<T>[],
  tests: (network: () => T) => void,
): void {
  // Real nodes are slow: a restart takes some seconds, and finding out that a payment was never sent takes longer.
  setDefaultTimeout(TEST_WITHIN_MS);
  if (networks.length === 0) describe.skip(name, () => tests(() => none()));
  for (const network of networks) {
    describe(`${name} (${network.title})`, () => tests(started(network)));
  }
}

function started<T extends OnChain>({ start }: Startable<T>): () => T {
  let network: T | null = null;
  beforeAll(async () => {
    network = await start().catch((error: unknown) => {
      // Another test run on this machine may take a port in the moment before a node listens on it.
      if (!saysPortTaken(error)) throw error;
      return start();
    });
  }, START_WITHIN_MS);
  afterAll(() => network?.stop());
  return () => network ?? none();
}

function none(): never {
  throw new Error('The network is up only during tests and their hooks.');
}

function saysPortTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /address already in use/i.test(error.message) || saysPortTaken(error.cause);
}
