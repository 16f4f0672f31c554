import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Network } from '../../codecs/network.ts';
import { type Clock, elapsedMs } from '../../lib/clock.ts';
import { keyedLock } from '../../lib/keyed-lock.ts';
import type { Credentials } from '../../model/credentials.ts';
import { ApiError, isApiError } from '../../model/errors.ts';
import type { Permission } from '../../model/permissions.ts';
import { endedCredentials, openClientSessions } from '../client-sessions.ts';
import type { NodeConnector, NodeSession } from '../node.ts';
import type { ChannelPeer } from './channels.ts';
import { ClientRegistry, type LndState, type RegisteredClient } from './clients.ts';
import { permissionsOf, servedByLnd } from './grants.ts';
import { readInfo, versionOf } from './info.ts';
import { LabelGrace } from './label-grace.ts';
import type { LndLocation } from './location.ts';
import { readMacaroon } from './macaroon.ts';
import { lndNode } from './node.ts';
import { refusalText } from './refusal.ts';
import { LndRest } from './rest.ts';
import { adminMacaroon, createWallet, notSignedUp, unlockWallet } from './root-wallet.ts';
import { type LndWallet, LocalChanges } from './wallet.ts';

/** What the connector is opened with. */
export interface LndOptions {
  readonly state: LndState;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** The LND that the root seed controls; null when it controls none. */
  readonly root: LndLocation | null;
  /** Whom channels are opened to; null refuses to open any. */
  readonly channelPeer: ChannelPeer | null;
}

type LndReference = Extract<Credentials['node'], { kind: 'lnd' }>;

/** Opens the connector of LND nodes; a credential says which. Asks no node before the first request needs it. */
export function openLnd(options: LndOptions): NodeConnector {
  const { clock, random } = options;
  const registry = new ClientRegistry(options.state, random);
  const sessions = openClientSessions(clock);
  const closed = new AbortController();
  const wallets = new Map<string, LndWallet>();
  const macaroons = new Map<string, string>();
  let reached = true;
  const contact = (now: boolean) => {
    reached = now;
  };

  function walletOf(nodePk: string, network: Network): LndWallet {
    const userPk = userPkOf(nodePk);
    const known = wallets.get(userPk);
    if (known) return known;
    const wallet: LndWallet = {
      userPk,
      nodePk,
      network,
      clock,
      locks: keyedLock(),
      local: new LocalChanges(),
      labels: new LabelGrace(elapsedMs),
      sending: new Set(),
      closed: closed.signal,
    };
    wallets.set(userPk, wallet);
    return wallet;
  }

  function nodeOf(
    wallet: LndWallet,
    reference: LndReference,
    rest: () => LndRest,
    guard: (...permissions: Permission[]) => void,
  ) {
    return lndNode({
      wallet,
      rest,
      guard,
      channelPeer: options.channelPeer,
      clients: registry.operations(rest, wallet, reference, (client, macaroonHex) => {
        macaroons.set(client.clientPk, macaroonHex);
        sessions.changed(client);
      }),
      follower: async () => {
        const own = rest();
        const macaroonHex = await registry.follower(own, wallet.userPk);
        return macaroonHex === null ? own : own.with(macaroonHex);
      },
    });
  }

  /** A macaroon that was made elsewhere: what it allows stands in it, and LND says whether it is genuine. */
  async function foreignClient(
    reference: LndReference,
    { client: clientPk, secret }: Credentials,
  ): Promise<RegisteredClient> {
    const macaroon = readMacaroon(secret);
    if (!macaroon) throw endedCredentials();
    const rest = new LndRest(reference, secret, { contact });
    const { info, network } = await readInfo(rest);
    const client = {
      clientPk,
      createdAtMs: clock.now(),
      expiresAtMs: null,
      label: null,
      revokedAtMs: null,
      scopes: [],
      permissions: permissionsOf(macaroon.operations),
    };
    const { identity_pubkey: nodePk } = info;
    return { userPk: userPkOf(nodePk), client, macaroonHex: secret, nodePk, network };
  }

  function rootLocation(): LndReference {
    if (options.root) return { kind: 'lnd', ...options.root };
    throw new ApiError('refused', 'The root seed controls no LND: start with --node-url.');
  }

  function rootRest(rootSeed: Uint8Array): LndRest {
    const macaroonHex = adminMacaroon(rootSeed, random(16));
    return new LndRest(rootLocation(), macaroonHex, { contact });
  }

  return {
    async connect(credentials): Promise<NodeSession> {
      const reference = credentials.node;
      if (reference.kind !== 'lnd') throw endedCredentials();
      const known =
        (await registry.find(credentials)) ?? (await foreignClient(reference, credentials));
      const wallet = walletOf(known.nodePk, known.network);
      const { client, ended, guard } = sessions.open(known.userPk, known.client);
      const { clientPk } = known.client;
      macaroons.set(clientPk, known.macaroonHex);
      const events = {
        contact,
        rejected: () => sessions.changed({ ...client(), revokedAtMs: clock.now() }),
      };
      const rest = () => new LndRest(reference, macaroons.get(clientPk) ?? '', events);
      return { userPk: known.userPk, client, ended, node: nodeOf(wallet, reference, rest, guard) };
    },
    async connectRoot(rootSeed): Promise<NodeSession> {
      const reference = rootLocation();
      const rest = rootRest(rootSeed);
      const { info, network } = await readInfo(rest).catch((error) => {
        throw explained(error);
      });
      const wallet = walletOf(info.identity_pubkey, network);
      const node = nodeOf(
        wallet,
        reference,
        () => rest,
        () => undefined,
      );
      return {
        userPk: wallet.userPk,
        client: () => null,
        ended: new AbortController().signal,
        node,
      };
    },
    async signup(rootSeed, { partnerPk }) {
      if (partnerPk !== null) {
        throw new ApiError('unsupported', 'LND knows no partners: leave partner_pk out.', {
          data: { node: 'lnd' },
        });
      }
      await createWallet(rootRest(rootSeed), rootSeed);
    },
    async provision(rootSeed) {
      await unlockWallet(rootRest(rootSeed), rootSeed);
    },
    reachable: () => reached,
    async close() {
      closed.abort();
      sessions.close();
    },
  };
}

/** Which LND a macaroon opens and what it may do there; for the credentials of `connect lnd`. */
export async function inspectMacaroon(
  location: LndLocation,
  macaroonHex: string,
): Promise<{ version: string; nodePk: string; network: Network; permissions: Permission[] }> {
  const macaroon = readMacaroon(macaroonHex);
  if (!macaroon) throw new ApiError('rejected', 'This is no macaroon of LND: give another file.');
  const rest = new LndRest(location, macaroonHex);
  const { info, network } = await readInfo(rest);
  return {
    version: versionOf(info),
    nodePk: info.identity_pubkey,
    network,
    permissions: servedByLnd(permissionsOf(macaroon.operations)),
  };
}

/** Credentials for a macaroon made elsewhere; the client is named after it. */
export function macaroonCredentials(location: LndLocation, macaroonHex: string): Credentials {
  const { url, cert } = location;
  return {
    v: 1,
    node: { kind: 'lnd', url, cert },
    client: bytesToHex(ed25519.getPublicKey(sha256(utf8ToBytes(macaroonHex)))),
    secret: macaroonHex,
  };
}

/** The wallet's name here; LND itself knows only its node key. */
function userPkOf(nodePk: string): string {
  return bytesToHex(ed25519.getPublicKey(sha256(utf8ToBytes(`wallet-sidecar/lnd-user/${nodePk}`))));
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
