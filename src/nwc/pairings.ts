import { hkdfSync } from 'node:crypto';
import { schnorr } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import type { NwcTerms } from '../http/nwc.ts';
import { decodeCredentials } from '../model/credentials.ts';
import type { Store } from '../store/ports.ts';

/** Where the store keeps pairings. Those of all wallets are together, since one process listens for all of them. */
const PLACE = ['nwc', 'pairing'] as const;
/** The fingerprint of no request. */
const REFUSED = 'refused';

/** A client that an application speaks for over Nostr. Nothing in it is secret. */
export interface Pairing {
  readonly clientPk: string;
  /** The application's public key, in hex. Its secret is in the URI alone. */
  readonly app: string;
  readonly relays: readonly string[];
}

/** The pairings that the store keeps. */
export type Pairings = ReturnType<typeof openPairings>;

/** Returns the pairings. */
export function openPairings({ connectorState, identity, clients, idempotency, spends }: Store) {
  const derived = (clientPk: string, use: string) => keyOf(identity.secret, clientPk, use);
  /** The secret key of the service for one client, so that nobody can tell that two pairings belong together. */
  const serviceKey = (clientPk: string) => derived(clientPk, 'service');
  /** Every pairing whose row fits. */
  const list = async () => [...(await connectorState.list(...PLACE)).values()] as Pairing[];
  return {
    serviceKey,
    /** The client for requests in its name: its secret seals outcomes, and is no part of its credentials. */
    speakerOf: (clientPk: string) => ({
      clientPk,
      secret: hex.encode(derived(clientPk, 'caller')),
    }),
    list,
    remove: (clientPk: string) => connectorState.change(...PLACE, clientPk, () => null),
    /**
     * Pairs the client of these credentials, and returns the URI. A repeat returns the same one, since the
     * application's secret follows from the credentials.
     */
    async add(credentials: string, { relays, app }: NwcTerms): Promise<string> {
      const { client: clientPk = '', secret = '' } = decodeCredentials(credentials)?.client ?? {};
      const appKey = keyOf(hex.decode(secret), '', 'app');
      const made: Pairing = { clientPk, app: app ?? publicKeyOf(appKey), relays };
      const kept = (await connectorState.putFirst(...PLACE, clientPk, made)) as Pairing;
      const at = kept.relays.map((relay) => `relay=${encodeURIComponent(relay)}&`).join('');
      const service = publicKeyOf(serviceKey(clientPk));
      return `nostr+walletconnect://${service}?${at}secret=${hex.encode(appKey)}`;
    },
    /** The invoices that clients are paying by requests over Nostr, as far as the store knows. */
    async begun() {
      if ((await list()).length === 0) return [];
      const all = await Promise.all((await spends.wallets()).map((one) => spends.unfinished(one)));
      return all
        .flat()
        .flatMap(({ caller, idempotencyKey: id, payment }) =>
          /^[0-9a-f]{64}$/.test(id ?? '') && id && payment.invoice
            ? [{ caller, id, invoice: payment.invoice, amount: Number(payment.amountMsat) }]
            : [],
        );
    },
    /**
     * Uses up the key of a payment that was answered with an error: who was told so must not have it paid by a copy of
     * the request, and the application keeps only keys of what was begun (docs/decisions.md 200). Throws where the key
     * has begun a payment: what became of that is no error's to say.
     */
    async refuse(clientPk: string, key: string, nowMs: number): Promise<void> {
      const client = await clients.find(clientPk);
      if (client === null) throw new Error('The client of a pairing is not stored.');
      const scope = { walletId: client.walletId, caller: clientPk, key };
      const { state } = await idempotency.begin(scope, REFUSED, nowMs, REFUSED);
      if (state === 'conflict') throw new Error('A payment was begun with this key.');
    },
  };
}

const keyOf = (secret: Uint8Array, salt: string, use: string) =>
  new Uint8Array(hkdfSync('sha256', secret, salt, `wallet-sidecar/nwc-${use}`, 32));

/** The public key of Nostr, in hex (BIP 340). */
export const publicKeyOf = (key: Uint8Array): string => hex.encode(schnorr.getPublicKey(key));

/** Whether a text is a public key of Nostr: not every number is. */
export function isPublicKey(text: string): boolean {
  try {
    schnorr.utils.lift_x(BigInt(`0x${text}`));
    return true;
  } catch {
    return false;
  }
}
