import { hkdfSync } from 'node:crypto';
import { schnorr } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { decodeCredentials } from '../model/credentials.ts';
import { ApiError } from '../model/errors.ts';
import type { Store } from '../store/ports.ts';

/** Where the store keeps pairings. Those of all wallets are together, since one process listens for all of them. */
const PLACE = ['nwc', 'pairing'] as const;
/** The most requests of a pairing that are remembered as refused; see {@link Pairing.refused}. */
const MOST_REFUSED = 200;

/** A client that an application speaks for over Nostr. Nothing in it is secret. */
export interface Pairing {
  readonly clientPk: string;
  /** The application's public key, in hex. Its secret is in the URI alone. */
  readonly app: string;
  readonly relays: readonly string[];
  /**
   * Ids of payments that were asked for and answered with an error, with the second of the request: whoever repeats
   * one must not have it paid, and a key is kept only of what was begun (docs/decisions.md 200).
   */
  readonly refused: Readonly<Record<string, number>>;
  /** Requests up to this second are not looked at any more; 0 for none. */
  readonly floorSecs: number;
}

/** The pairings that the store keeps. */
export type Pairings = ReturnType<typeof openPairings>;

/** Returns the pairings. */
export function openPairings({
  connectorState,
  identity,
}: Pick<Store, 'connectorState' | 'identity'>) {
  const [place, kind] = PLACE;
  const derived = (clientPk: string, use: string) =>
    new Uint8Array(hkdfSync('sha256', identity.secret, clientPk, `wallet-sidecar/nwc-${use}`, 32));
  /** The secret key of the service for one client, so that nobody can tell that two pairings belong together. */
  const serviceKey = (clientPk: string) => derived(clientPk, 'service');
  return {
    serviceKey,
    /** The client for requests in its name: its secret seals outcomes, and is no part of its credentials. */
    speakerOf: (clientPk: string) => ({
      clientPk,
      secret: hex.encode(derived(clientPk, 'caller')),
    }),
    /** Every pairing whose row fits. */
    async list(): Promise<Pairing[]> {
      return [...(await connectorState.list(place, kind)).values()] as Pairing[];
    },
    /**
     * Pairs the client of these credentials, and returns the URI. A repeat returns the same one, since the
     * application's secret follows from the credentials.
     */
    async add(credentials: string, relays: readonly string[]): Promise<string> {
      const { client = null } = decodeCredentials(credentials) ?? {};
      if (client === null) throw new ApiError('internal', 'These are no credentials of a client.');
      const secret = hkdfSync(
        'sha256',
        hex.decode(client.secret),
        '',
        'wallet-sidecar/nwc-app',
        32,
      );
      const appKey = new Uint8Array(secret);
      const clientPk = client.client;
      const app = publicKeyOf(appKey);
      const made: Pairing = { clientPk, app, relays, refused: {}, floorSecs: 0 };
      const kept = (await connectorState.putFirst(place, kind, clientPk, made)) as Pairing;
      const query = kept.relays.map((relay) => `relay=${encodeURIComponent(relay)}&`).join('');
      const service = publicKeyOf(serviceKey(clientPk));
      return `nostr+walletconnect://${service}?${query}secret=${hex.encode(appKey)}`;
    },
    remove: (clientPk: string) => connectorState.change(place, kind, clientPk, () => null),
    /** Remembers that a payment was refused, and forgets those of before `oldestSecs`. */
    refuse: (clientPk: string, id: string, atSecs: number, oldestSecs: number) =>
      connectorState.change(place, kind, clientPk, (value) => {
        const before = value as Pairing;
        const newest = Object.entries({ ...before.refused, [id]: atSecs })
          .filter(([, secs]) => secs >= oldestSecs)
          .toSorted(([, a], [, b]) => b - a);
        const floorSecs = newest[MOST_REFUSED]?.[1] ?? 0;
        const refused = Object.fromEntries(newest.slice(0, MOST_REFUSED));
        return { ...before, refused, floorSecs: Math.max(before.floorSecs, floorSecs) };
      }),
  };
}

/** The public key of Nostr, in hex (BIP 340). */
export const publicKeyOf = (key: Uint8Array): string => hex.encode(schnorr.getPublicKey(key));
