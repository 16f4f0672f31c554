import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../support/ports.ts';
import type { ClnPrograms } from './binaries.ts';
import { type ClnRpc, clnRpc } from './cln-rpc.ts';
import { program } from './program.ts';
import type { Reaper } from './reaper.ts';
import { waitForNode } from './wait-for-node.ts';

/** One `lightningd` with clnrest, in step with the chain. */
export interface ClnNode {
  readonly name: string;
  /** The node's folder (`--lightning-dir`), which is removed with the network. */
  readonly dir: string;
  readonly pubkey: string;
  /** Such as `26.06.6`. */
  readonly version: string;
  /** The address for its peers, `host:port`. */
  readonly peerAddress: string;
  /** The URL of clnrest. */
  readonly url: string;
  /** The certificate authority that the node made for itself. */
  readonly certPath: string;
  /** A rune without restrictions. */
  readonly rune: string;
  /** A file with that rune. */
  readonly runePath: string;
  readonly rpc: ClnRpc;
  /** Resolves when clnrest answers. It makes its certificates first, which takes five seconds. */
  restAnswers(): Promise<void>;
  /** Starts it on the same folder and ports. Resolves when it is in step with the chain and clnrest answers. */
  start(): Promise<void>;
  /** Ends it in good order (SIGTERM). */
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL), as a crash would. */
  kill(): Promise<void>;
}

/** The name of a node and its chain. */
export interface ClnOptions {
  readonly binaries: ClnPrograms;
  readonly name: string;
  readonly parentFolder: string;
  /** The program that it runs as `bitcoin-cli`. */
  readonly bitcoinCli: string;
  readonly reaper: Reaper;
  /** Further flags. */
  readonly flags?: readonly string[];
}

interface GetInfo {
  readonly id: string;
  readonly version: string;
  readonly warning_bitcoind_sync?: string;
  readonly warning_lightningd_sync?: string;
}

/** Starts a node on free loopback ports. Resolves when it is in step with the chain; clnrest answers later. */
export async function startCln(options: ClnOptions): Promise<ClnNode> {
  const { name, binaries } = options;
  const dir = join(options.parentFolder, name);
  await mkdir(dir, { mode: 0o700 });
  const [restPort = 0, peerPort = 0] = freePorts(2);
  const url = `https://127.0.0.1:${restPort}`;
  const certPath = join(dir, 'regtest/ca.pem');
  const peerAddress = `127.0.0.1:${peerPort}`;
  const process = program(
    [
      binaries.lightningd,
      '--network=regtest',
      `--lightning-dir=${dir}`,
      `--alias=${name}`,
      `--addr=${peerAddress}`,
      `--bitcoin-cli=${options.bitcoinCli}`,
      '--clnrest-host=127.0.0.1',
      `--clnrest-port=${restPort}`,
      ...(binaries.clnrest === null ? [] : [`--plugin=${binaries.clnrest}`]),
      '--log-level=debug',
      // What takes seconds or minutes on a network of strangers takes no time on this one.
      '--developer',
      '--dev-bitcoind-poll=1',
      '--dev-fast-gossip',
      '--dev-fast-reconnect',
      // Others reach it by what it announces.
      '--dev-allow-localhost',
      ...(options.flags ?? []),
    ],
    join(dir, 'output.log'),
    options.reaper,
  );
  const rpc = clnRpc(join(dir, 'regtest/lightning-rpc'));

  async function start(): Promise<GetInfo> {
    process.start();
    return waitForNode(`${name} is in step with the chain`, async () => {
      process.assertRunning();
      const info = await rpc<GetInfo>('getinfo');
      return !(info.warning_bitcoind_sync || info.warning_lightningd_sync) && info;
    });
  }

  async function restAnswers(): Promise<void> {
    await waitForNode(`clnrest of ${name} answers`, async () => {
      process.assertRunning();
      await fetch(url, { tls: { ca: await Bun.file(certPath).text() } });
      return true;
    });
  }

  const { id, version } = await start();
  const { rune } = await rpc<{ rune: string }>('createrune');
  const runePath = join(dir, 'rune');
  await writeFile(runePath, `${rune}\n`, { mode: 0o600 });
  return {
    name,
    dir,
    pubkey: id,
    version: version.replace(/^v/, ''),
    peerAddress,
    url,
    certPath,
    rune,
    runePath,
    rpc,
    restAnswers,
    async start() {
      await start();
      await restAnswers();
    },
    stop: () => process.stop(),
    kill: () => process.kill(),
  };
}
