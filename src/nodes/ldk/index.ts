import { join } from 'node:path';
import { hex } from '@scure/base';
import { z } from 'zod';
import type { Network } from '../../codecs/network.ts';
import type { Clock } from '../../lib/clock.ts';
import { keyedLock } from '../../lib/keyed-lock.ts';
import type { Log } from '../../lib/log.ts';
import { once } from '../../lib/once.ts';
import type { ChannelPeer } from '../../model/channel.ts';
import { refused } from '../../model/errors.ts';
import type { ChainServer } from '../../model/web-url.ts';
import type { ConnectedWallet, NodeConnector } from '../node.ts';
import { requireNoPartner } from '../refusals.ts';
import { userPkOf } from '../remote/place/identity.ts';
import type { ConnectorRows } from '../remote-kind.ts';
import { chainSource } from './chain/source.ts';
import { ldkNode } from './node.ts';
import { Helper, type SeenState } from './process/helper.ts';
import { nodeSeed } from './process/node-seed.ts';
import { helperProgram } from './process/program.ts';
import { standingOf } from './process/standing.ts';
import { LDK, type LdkWallet } from './process/wallet.ts';
import { type Access, accessOf, OWNER } from './set-up/tokens.ts';

export { recoverLdk } from './recovery/recovery.ts';

/** Options of the embedded node. */
export interface LdkOptions {
  readonly rootSeed: Uint8Array;
  readonly network: Network;
  readonly chain: ChainServer;
  readonly lsp: (ChannelPeer & { readonly maxFeeMsat: bigint }) | null;
  /** Where other nodes reach it, as `host:port`; null: nowhere. */
  readonly listen: string | null;
  /** The sidecar's data directory. The node's state is in `ldk` there, one folder for each network. */
  readonly dataDir: string;
  readonly state: ConnectorRows;
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Log;
  readonly channelPeer: ChannelPeer | null;
}

/** The kind of the rows that keep how far the node's state had come. */
export const STATE_ROWS = 'ldk_state';

/** Seconds between looks at the chain. The blocks of a test network come when somebody asks for them. */
const SYNC_SECS = 30;
const TEST_SYNC_SECS = 1;
/** How often the newest number of the node's state is stored, at most. */
const NOTE_EVERY_MS = 60_000;

const seenShape = once(() => z.object({ opens: z.int().min(0), seq: z.int().min(0) }));

/**
 * Opens the embedded LDK node, which runs in a process of its own (helper/README.md), and starts it. Throws `refused`
 * for a build without it.
 */
export async function openLdk(options: LdkOptions): Promise<NodeConnector> {
  const { rootSeed, network, lsp, listen, dataDir, state, elapsedMs } = options;
  const place = `ldk/${network}`;
  const program = await helperProgram(dataDir);
  const seen = async (): Promise<SeenState | null> => {
    const kept = seenShape().safeParse(await state.get(place, STATE_ROWS, 'seen'));
    return kept.success ? kept.data : null;
  };
  const source = chainSource(options);
  const helper = new Helper({
    program: program.path,
    settings: {
      network,
      dir: join(dataDir, 'ldk', network),
      seed: hex.encode(nodeSeed(rootSeed, network)),
      chain: source.server,
      lsp: lsp && { pk: lsp.pubkey, address: lsp.host },
      listen: listen === null ? [] : [listen],
      sync_secs: network === 'regtest' ? TEST_SYNC_SECS : SYNC_SECS,
    },
    log: options.log,
    elapsedMs,
    random: () => (options.random(1)[0] ?? 0) / 256,
    seen,
    keep: (reached) => state.put(place, STATE_ROWS, 'seen', reached),
  });
  const problems = standingOf(helper, source, elapsedMs);
  let known: LdkWallet | null = null;

  async function walletOf(): Promise<LdkWallet> {
    const { nodePk } = await helper.opened();
    known ??= {
      helper,
      userPk: userPkOf('ldk', nodePk),
      nodePk,
      network,
      clock: options.clock,
      random: options.random,
      rows: state,
      locks: keyedLock(),
      channelPeer: options.channelPeer,
      lsp: lsp && { maxFeeMsat: lsp.maxFeeMsat },
      sending: new Set(),
      noteSeq: notingSeq(elapsedMs, async (seq) => {
        const before = await seen();
        if (before && before.seq < seq)
          await state.put(place, STATE_ROWS, 'seen', { ...before, seq });
      }),
    };
    return known;
  }
  helper.onEnd(() => known?.sending.clear());
  async function opened(accessIn: (wallet: LdkWallet) => Access): Promise<ConnectedWallet> {
    const wallet = await walletOf();
    const node = ldkNode(wallet, accessIn(wallet), program);
    return { userPk: wallet.userPk, node, grant: null };
  }
  async function requireOwn(userPk: string): Promise<void> {
    if (userPk === (await walletOf()).userPk) return;
    throw refused(
      'This wallet is not the one of the LDK node: use the credentials of its own clients.',
    );
  }
  return {
    async connectConfigured() {
      throw refused('The LDK node has no configured credentials: leave them out.');
    },
    async connectClient(userPk, token) {
      await requireOwn(userPk);
      const connected = await opened((wallet) => accessOf(wallet, token));
      return connected;
    },
    async connectOwner(userPk) {
      await requireOwn(userPk);
      return opened(() => OWNER);
    },
    connectRoot: () => opened(() => OWNER),
    async signup(_, { partnerPk }) {
      requireNoPartner(LDK, partnerPk);
      await helper.opened();
    },
    async provision() {
      await helper.opened();
    },
    problems,
    async close() {
      // The node may publish a last transaction.
      await helper.close();
      await source.close();
    },
  };
}

/** Notes the newest number, at most once in a while. */
function notingSeq(elapsedMs: () => number, note: (seq: number) => Promise<void>) {
  let notedAtMs = Number.NEGATIVE_INFINITY;
  return async (seq: number): Promise<void> => {
    if (elapsedMs() - notedAtMs < NOTE_EVERY_MS) return;
    notedAtMs = elapsedMs();
    await note(seq);
  };
}
