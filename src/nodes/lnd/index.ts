import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { refused } from '../../model/errors.ts';
import type { NodeConnector } from '../node.ts';
import { requireNoPartner } from '../refusals.ts';
import { OddRows } from '../remote/calls/odd-rows.ts';
import { Recent } from '../remote/calls/recent.ts';
import { openConnector } from '../remote/place/connector.ts';
import type { MovingPlace } from '../remote/place/moving-place.ts';
import type { RemoteNodeKind, RemoteOptions } from '../remote-kind.ts';
import { lndNode } from './node.ts';
import { CoinLocks } from './reads/coin-locks.ts';
import { LND_PROTOCOL, ROOT_SEED_PROTOCOL } from './reads/protocol.ts';
import type { LndRest } from './reads/rest.ts';
import type { LndWallet } from './reads/wallet.ts';
import { lndConnect } from './set-up/connect.ts';
import { adminMacaroon, createWallet, unlockWallet, walletMark } from './set-up/root-wallet.ts';
import { lndTokens, RootKeyIds } from './set-up/tokens.ts';
import { LabelGrace } from './words/label-grace.ts';

/** The node kind LND, reached by its REST interface. */
export const LND: RemoteNodeKind = {
  title: LND_PROTOCOL.title,
  open: openLnd,
  connect: lndConnect,
};

/** Fields that name a row of LND's lists and are no secret. */
const ROW_IDENTITIES = ['add_index', 'r_hash', 'payment_index', 'payment_hash', 'tx_hash'];

/** Opens the connector for LND. It connects to no node before the first request needs one. */
export function openLnd(options: RemoteOptions): NodeConnector {
  const { random, channelPeer } = options;
  const ids = new RootKeyIds(options.mark);
  let openedSeedHash = '';
  const { connector, root, asOwner } = openConnector(options, {
    protocol: LND_PROTOCOL,
    rootSeed: ROOT_SEED_PROTOCOL,
    isOfClient: ({ rootKeyId }) => ids.owns(rootKeyId),
    walletOf: (wallet): LndWallet => ({
      ...wallet,
      labels: new LabelGrace(wallet.elapsedMs),
      coinLocks: new CoinLocks(options.mark, wallet.elapsedMs),
      oddRows: new OddRows('LND', ROW_IDENTITIES),
      publicChannel: new Recent(wallet.elapsedMs),
      sending: new Set(),
    }),
    nodeOf: (wallet, rest, place) =>
      lndNode({
        wallet,
        rest,
        owner: place.owner(),
        channelPeer,
        tokens: lndTokens(() => place.owner(), ids, random),
      }),
  });

  /**
   * The root seed's place, with the administrator's macaroon that follows from the seed. LND's wallet may still be
   * locked or missing. Throws `refused` without `--node-url`.
   */
  function rootPlace(rootSeed: Uint8Array): MovingPlace<LndRest> {
    if (root === null) {
      throw refused('No LND is configured for the root seed: start the sidecar with --node-url.');
    }
    const seedHash = hex.encode(sha256(rootSeed));
    if (seedHash !== openedSeedHash) {
      root.now.useToken(adminMacaroon(rootSeed, random(16)), walletMark(rootSeed));
    }
    openedSeedHash = seedHash;
    return root;
  }

  return {
    ...connector,
    async connectRoot(rootSeed) {
      const place = rootPlace(rootSeed);
      // Reads of what is stored need no contact with the node.
      const identity = (await place.now.knownByToken()) ?? (await place.now.prove());
      return asOwner(place, identity);
    },
    async signup(rootSeed, { partnerPk }) {
      requireNoPartner(LND_PROTOCOL, partnerPk);
      await createWallet(rootPlace(rootSeed).now.unproven(), rootSeed);
    },
    async provision(rootSeed) {
      await unlockWallet(rootPlace(rootSeed).now.unproven(), rootSeed);
    },
  };
}
