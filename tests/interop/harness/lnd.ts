import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../support/ports.ts';
import type { ChainAccess } from './btcd.ts';
import { type LndRest, lndRest, type RestLocation } from './lnd-rest.ts';
import { program } from './program.ts';
import type { Reaper } from './reaper.ts';
import { waitForNode } from './wait-for-node.ts';

/** The states of `GET /v1/state`, in the order in which a node reaches them. */
type LndState =
  | 'WAITING_TO_START'
  | 'NON_EXISTING'
  | 'LOCKED'
  | 'UNLOCKED'
  | 'RPC_ACTIVE'
  | 'SERVER_ACTIVE';

/** Where an LND keeps what it stores. `native-sql` is `sqlite` with tables of its own, into which it moves at a start. */
export type LndDatabase = keyof typeof DATABASE_FLAGS;
const DATABASE_FLAGS = {
  bbolt: [],
  sqlite: ['--db.backend=sqlite'],
  'native-sql': ['--db.backend=sqlite', '--db.use-native-sql'],
} as const;

/** One `lnd` process, with or without a wallet. */
export interface LndProcess extends RestLocation, LndRest {
  readonly name: string;
  /** The node's folder (`--lnddir`), which is removed with the network. */
  readonly dir: string;
  /** The address for its peers, `host:port`. */
  readonly peerAddress: string;
  /** The address for `lncli`, `host:port`. */
  readonly rpcAddress: string;
  /** Its present state. Throws while REST does not answer. */
  state(): Promise<LndState>;
  /** Resolves when it is in exactly this state. Throws, with the end of its log, if the process ends before. */
  reached(state: LndState): Promise<void>;
  /**
   * Starts it on the same folder and ports, and with another database than before where one is named. Resolves when REST
   * answers; the wallet may still be locked.
   */
  start(database?: LndDatabase): Promise<void>;
  /** Ends it in good order (SIGTERM). */
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL), as a crash would. */
  kill(): Promise<void>;
  /** Stops its work until {@link resume}: its peers and callers wait. */
  pause(): void;
  resume(): void;
}

/** One `lnd` with its wallet open, synced to the chain. */
export interface LndNode extends Omit<LndProcess, 'reached' | 'state'> {
  readonly pubkey: string;
  readonly version: string;
}

/** The name of a node, its chain and its wallet. */
export interface LndOptions {
  readonly binary: string;
  readonly name: string;
  readonly parentFolder: string;
  readonly chain: ChainAccess;
  /** Where it asks for fee rates. */
  readonly feeUrl: string;
  readonly reaper: Reaper;
  /** 'open': a random wallet that is opened at each start. 'none': a fresh LND that waits for initwallet. */
  readonly wallet: 'open' | 'none';
  /** Its database at the first start; bbolt if absent. */
  readonly database?: LndDatabase;
}

/** Starts a node on free loopback ports. Resolves when REST answers, in whichever state the wallet is. */
export async function startLndProcess(options: LndOptions): Promise<LndProcess> {
  const { name, chain } = options;
  const dir = join(options.parentFolder, name);
  await mkdir(dir, { mode: 0o700 });
  const [restPort = 0, rpcPort = 0, peerPort = 0] = freePorts(3);
  const location: RestLocation = {
    restUrl: `https://127.0.0.1:${restPort}`,
    tlsCertPath: join(dir, 'tls.cert'),
    macaroonPath: join(dir, 'data/chain/bitcoin/regtest/admin.macaroon'),
  };
  const peerAddress = `127.0.0.1:${peerPort}`;
  const rpcAddress = `127.0.0.1:${rpcPort}`;
  const process = program(
    [
      options.binary,
      `--lnddir=${dir}`,
      `--alias=${name}`,
      `--restlisten=127.0.0.1:${restPort}`,
      `--rpclisten=${rpcAddress}`,
      `--listen=${peerAddress}`,
      '--bitcoin.regtest',
      '--bitcoin.node=btcd',
      '--bitcoin.defaultchanconfs=1',
      `--fee.url=${options.feeUrl}`,
      `--btcd.rpchost=${chain.rpcHost}`,
      `--btcd.rpcuser=${chain.rpcUser}`,
      `--btcd.rpcpass=${chain.rpcPassword}`,
      `--btcd.rpccert=${chain.rpcCertPath}`,
      '--nobootstrap',
      '--accept-keysend',
      '--accept-amp',
      '--trickledelay=50',
      // After a restart the two nodes reconnect at once, not after a growing pause.
      '--minbackoff=200ms',
      '--maxbackoff=500ms',
      ...(options.wallet === 'open' ? ['--noseedbackup'] : []),
    ],
    join(dir, 'output.log'),
    options.reaper,
  );
  const client = lndRest(location);

  async function state(): Promise<LndState> {
    const reply = await client.rest<{ state: LndState }>('GET', '/v1/state', undefined, {
      macaroonHex: null,
    });
    return reply.state;
  }

  let database = options.database ?? 'bbolt';
  async function start(other = database): Promise<void> {
    database = other;
    process.start(DATABASE_FLAGS[database]);
    await waitForNode(`${name} answers`, async () => {
      process.assertRunning();
      return (await state()) !== 'WAITING_TO_START';
    });
  }

  await start();
  return {
    ...location,
    ...client,
    name,
    dir,
    peerAddress,
    rpcAddress,
    state,
    async reached(wanted) {
      await waitForNode(`${name} is ${wanted}`, async () => {
        process.assertRunning();
        return (await state()) === wanted;
      });
    },
    start,
    stop: () => process.stop(),
    kill: () => process.kill(),
    pause: () => process.pause(),
    resume: () => process.resume(),
  };
}

/** Starts a node with a wallet. Resolves when it is ready to open channels. */
export async function startLnd(options: Omit<LndOptions, 'wallet'>): Promise<LndNode> {
  const node = await startLndProcess({ ...options, wallet: 'open' });
  const { identity_pubkey, version } = await ready(node);
  return {
    ...node,
    pubkey: identity_pubkey,
    version,
    async start(database) {
      await node.start(database);
      await ready(node);
    },
  };
}

interface GetInfo {
  readonly identity_pubkey: string;
  readonly version: string;
  readonly synced_to_chain: boolean;
}

async function ready(node: LndProcess): Promise<GetInfo> {
  await node.reached('SERVER_ACTIVE');
  return waitForNode(`${node.name} is synced to the chain`, async () => {
    const info = await node.rest<GetInfo>('GET', '/v1/getinfo');
    return info.synced_to_chain && info;
  });
}
