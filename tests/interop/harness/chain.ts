import { join } from 'node:path';
import { temporaryFolder } from '../../support/folder.ts';
import { startBitcoinCli } from './bitcoin-cli.ts';
import { type Btcd, type ChainAccess, startBtcd } from './btcd.ts';
import { startEsplora } from './esplora.ts';
import { startFeeEstimates } from './fee-estimates.ts';
import { type Reaper, startReaper } from './reaper.ts';

/** A chain, and what nodes of each kind need to be on it. */
export interface Chain {
  readonly btcd: Btcd;
  /** The folder of the network, which is removed with it. */
  readonly folder: string;
  readonly reaper: Reaper;
  /** How LND reaches btcd. */
  readonly access: ChainAccess;
  /** Where LND asks for fee rates. */
  readonly feeUrl: string;
  /** The program by which Core Lightning reaches btcd. */
  readonly bitcoinCli: string;
}

/** The chain of a network, and the end of both. */
export interface OnChain {
  readonly btcd: Btcd;
  /** Where LDK reads it. */
  readonly esploraUrl: string;
  readonly electrumUrl: string;
  /** Kills every process and removes every file. Call it in `afterAll`. */
  stop(): Promise<void>;
}

/**
 * Starts btcd, then what `start` starts on it. Everything is on 127.0.0.1 and in one temporary folder. Nothing remains
 * if a step fails, or if the test run ends without `stop`.
 */
export async function startOnChain<T>(
  btcdBinary: string,
  start: (chain: Chain) => Promise<T>,
): Promise<T & OnChain> {
  const folder = temporaryFolder('interop');
  const reaper = startReaper(folder);
  const stops: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    await reaper.reap();
    for (const one of stops) await one();
  };
  try {
    const { btcd, access } = await startBtcd(btcdBinary, join(folder, 'btcd'), reaper);
    const fees = startFeeEstimates();
    stops.push(fees.stop);
    const esplora = startEsplora(access);
    stops.push(esplora.stop);
    const bitcoinCli = await startBitcoinCli(folder, access);
    stops.push(bitcoinCli.stop);
    const chain = { btcd, folder, reaper, access, feeUrl: fees.url, bitcoinCli: bitcoinCli.path };
    const { url: esploraUrl, electrumUrl } = esplora;
    return { ...(await start(chain)), btcd, esploraUrl, electrumUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
