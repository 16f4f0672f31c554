import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Network } from '../../codecs/network.ts';
import { type Clock, elapsedMs } from '../../lib/clock.ts';
import { keyedLock } from '../../lib/keyed-lock.ts';
import type { NodeCredentials } from '../../model/credentials.ts';
import { ApiError, isApiError, refused } from '../../model/errors.ts';
import type { Permission } from '../../model/permissions.ts';
import type { NodeConnector } from '../node.ts';
import { RemoteEndpoint } from '../remote/endpoint.ts';
import type { RemoteLocation } from '../remote/location.ts';
import type { ChannelPeer } from './channels.ts';
import { permissionsOf, servedByLnd } from './grants.ts';
import { type LndIdentity, userPkOf } from './identity.ts';
import { readInfo, versionOf } from './info.ts';
import { LabelGrace } from './label-grace.ts';
import { readMacaroon } from './macaroon.ts';
import { lndNode } from './node.ts';
import type { LndPlace, LndState } from './place.ts';
import { openPlaces } from './places.ts';
import { refusalText } from './refusal.ts';
import { LndRest } from './rest.ts';
import { adminMacaroon, createWallet, notSignedUp, unlockWallet } from './root-wallet.ts';
import { lndTokens, RootKeyIds } from './tokens.ts';
import { type LndWallet, LocalChanges } from './wallet.ts';

/** What the connector is opened with. It goes to no place but `root` and those of `entries`. */
export interface LndOptions {
  readonly state: LndState;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** The LND that the root seed controls; null when it controls none. */
  readonly root: RemoteLocation | null;
  /** What `connect` wrote, each for a node of its own. */
  readonly entries: readonly NodeCredentials[];
  /** Whom channels are opened to; null refuses to open any. */
  readonly channelPeer: ChannelPeer | null;
  /** Hex id of this installation, by which it knows the tokens that it made. */
  readonly mark: string;
}

/** Opens the connector of LND nodes. Asks no node before the first request needs it. */
export function openLnd(options: LndOptions): NodeConnector {
  const { clock, random } = options;
  const ids = new RootKeyIds(options.mark);
  const closed = new AbortController();
  const wallets = new Map<string, LndWallet>();
  let reached = true;
  let openedSeedHash = '';
  const places = openPlaces(options, ids, (now) => {
    reached = now;
  });

  function walletOf({ nodePk, network }: LndIdentity): LndWallet {
    const userPk = userPkOf(nodePk);
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
      sending: new Set(),
      closed: closed.signal,
    };
    wallets.set(userPk, wallet);
    return wallet;
  }

  function opened(
    place: LndPlace,
    identity: LndIdentity,
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

  /** LND at the root seed's place, before anything is proven: its wallet may not be open yet. */
  function rootPlace(rootSeed: Uint8Array): LndPlace {
    if (places.root === null) {
      throw refused('The root seed controls no LND: start with --node-url.');
    }
    const seedHash = bytesToHex(sha256(rootSeed));
    if (seedHash !== openedSeedHash) places.root.useToken(adminMacaroon(rootSeed, random(16)));
    openedSeedHash = seedHash;
    return places.root;
  }

  return {
    async connectConfigured(entry) {
      const { place, macaroon } = places.entry(entry);
      const identity = (await place.known()) ?? (await place.prove());
      return opened(place, identity, permissionsOf(macaroon.operations), place.owner());
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
    async connectRoot(rootSeed) {
      const place = rootPlace(rootSeed);
      const identity = await place.prove().catch((error: unknown) => {
        throw explained(error);
      });
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
      await createWallet(rootPlace(rootSeed).unproven(), rootSeed);
    },
    async provision(rootSeed) {
      await unlockWallet(rootPlace(rootSeed).unproven(), rootSeed);
    },
    reachable: () => reached,
    problems: () => places.problems(),
    async close() {
      closed.abort();
    },
  };
}

/** Which LND a macaroon opens and what it may do there; for the credentials of `connect lnd`. */
export async function inspectMacaroon(
  location: RemoteLocation,
  macaroonHex: string,
): Promise<{ version: string; nodePk: string; network: Network; permissions: Permission[] }> {
  const macaroon = readMacaroon(macaroonHex);
  if (!macaroon) throw new ApiError('rejected', 'This is no macaroon of LND: give another file.');
  const { info, network } = await readInfo(new LndRest(new RemoteEndpoint(location), macaroonHex));
  return {
    version: versionOf(info),
    nodePk: info.identity_pubkey,
    network,
    permissions: servedByLnd(permissionsOf(macaroon.operations)),
  };
}

/** Why the root seed does not open its LND, in words that name the next step. */
function explained(error: unknown): unknown {
  const text = refusalText(error);
  if (text.includes('wallet not created')) return notSignedUp(error);
  if (isApiError(error, 'unauthenticated')) {
    return new ApiError(
      'unauthenticated',
      'The LND at --node-url has a wallet of another root seed: give that seed, or another LND.',
      { cause: error },
    );
  }
  return error;
}
