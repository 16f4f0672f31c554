import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { elapsedMs } from '../../lib/clock.ts';
import { keyedLock } from '../../lib/keyed-lock.ts';
import { ApiError, refused } from '../../model/errors.ts';
import type { Permission } from '../../model/permissions.ts';
import type { NodeConnector } from '../node.ts';
import { type NodeIdentity, userPkOf } from '../remote/identity.ts';
import type { MovingPlace } from '../remote/moving-place.ts';
import { openPlaces } from '../remote/places.ts';
import type { RemoteNodeKind, RemoteOptions } from '../remote-kind.ts';
import { lndConnect } from './connect.ts';
import { permissionsOf } from './grants.ts';
import { LabelGrace } from './label-grace.ts';
import { lndNode } from './node.ts';
import { OddRows } from './odd-rows.ts';
import { lndProtocol, ROOT_SEED_PROTOCOL } from './protocol.ts';
import { PublicChannels } from './public-channels.ts';
import type { LndRest } from './rest.ts';
import { adminMacaroon, createWallet, unlockWallet, walletMark } from './root-wallet.ts';
import { Sendable } from './sendable.ts';
import { lndTokens, RootKeyIds } from './tokens.ts';
import { type LndWallet, LocalChanges } from './wallet.ts';

/** The node kind LND, reached by its REST interface. */
export const LND: RemoteNodeKind = {
  title: 'LND',
  testedWith: ['0.18.5', '0.20.3', '0.21.2'],
  open: openLnd,
  connect: lndConnect,
};

/** Opens the connector for LND. It connects to no node before the first request needs one. */
export function openLnd(options: RemoteOptions): NodeConnector {
  const { clock, random } = options;
  const ids = new RootKeyIds(options.mark);
  const closed = new AbortController();
  const wallets = new Map<string, LndWallet>();
  let openedSeedHash = '';
  const places = openPlaces(options, lndProtocol(ids), ROOT_SEED_PROTOCOL);

  function walletOf({ nodePk, network }: NodeIdentity): LndWallet {
    const userPk = userPkOf('lnd', nodePk);
    const known = wallets.get(userPk);
    if (known) return known;
    const wallet: LndWallet = {
      userPk,
      nodePk,
      network,
      clock,
      random,
      locks: keyedLock(),
      local: new LocalChanges(),
      labels: new LabelGrace(elapsedMs),
      oddRows: new OddRows(),
      publicChannels: new PublicChannels(elapsedMs),
      sendable: new Sendable(elapsedMs),
      sending: new Set(),
      closed: closed.signal,
    };
    wallets.set(userPk, wallet);
    return wallet;
  }

  function opened(
    place: MovingPlace<LndRest>,
    identity: NodeIdentity,
    permissions: readonly Permission[] | null,
    rest: LndRest,
  ) {
    const wallet = walletOf(identity);
    const node = lndNode({
      wallet,
      rest,
      owner: place.owner(),
      channelPeer: options.channelPeer,
      tokens: lndTokens(() => place.owner(), ids, random),
    });
    return { userPk: wallet.userPk, node, permissions };
  }

  /**
   * The root seed's place, with the administrator's macaroon that follows from the seed. LND's wallet may still be
   * locked or missing. Throws `refused` without `--node-url`.
   */
  function rootPlace(rootSeed: Uint8Array): MovingPlace<LndRest> {
    if (places.root === null) {
      throw refused('No LND is configured for the root seed: start the sidecar with --node-url.');
    }
    const seedHash = hex.encode(sha256(rootSeed));
    if (seedHash !== openedSeedHash) {
      places.root.now.useToken(adminMacaroon(rootSeed, random(16)), walletMark(rootSeed));
    }
    openedSeedHash = seedHash;
    return places.root;
  }

  return {
    async connectConfigured(entry) {
      const { place, token } = places.entry(entry);
      const identity = (await place.now.known()) ?? (await place.now.prove());
      return opened(place, identity, permissionsOf(token.operations), place.owner());
    },
    async connectClient(userPk, token) {
      const { place, identity } = await places.speakingFor(userPk);
      return opened(
        place,
        identity,
        null,
        place.with(() => token().token),
      );
    },
    async connectOwner(userPk) {
      const { place, identity } = await places.speakingFor(userPk);
      return opened(place, identity, null, place.owner());
    },
    async connectRoot(rootSeed) {
      const place = rootPlace(rootSeed);
      // Reads of what is stored need no contact with the node.
      const identity = (await place.now.knownByToken()) ?? (await place.now.prove());
      return opened(place, identity, null, place.owner());
    },
    async signup(rootSeed, { partnerPk }) {
      if (partnerPk !== null) {
        throw new ApiError(
          'unsupported',
          'LND does not support partner fees: leave partner_pk out.',
          {
            data: { node: 'lnd' },
          },
        );
      }
      await createWallet(rootPlace(rootSeed).now.unproven(), rootSeed);
    },
    async provision(rootSeed) {
      await unlockWallet(rootPlace(rootSeed).now.unproven(), rootSeed);
    },
    problems: () => places.problems(),
    async close() {
      closed.abort();
    },
  };
}
