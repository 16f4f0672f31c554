import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64, hex } from '@scure/base';
import { z } from 'zod';
import { NETWORKS, type Network } from '../../codecs/network.ts';
import { ApiError, isApiError, refused } from '../../model/errors.ts';
import { RemoteEndpoint } from '../remote/endpoint.ts';
import { fingerprintOf, type RemoteLocation } from '../remote/location.ts';
import type { ConnectorRows } from '../remote-kind.ts';
import { type LndIdentity, userPkOf } from './identity.ts';
import { readInfo } from './info.ts';
import { isSignedByNode } from './node-signature.ts';
import { LndRest } from './rest.ts';
import { signatureShape } from './wire.ts';

/** Which wallet a place was found to speak for, by the place's fingerprint; rows of no wallet. */
const LOCATION = 'lnd-location';
const NO_WALLET = 'lnd';
/** The place that a wallet was last reached at. */
const LAST_PLACE = 'lnd-place';
const LAST = 'last';

const locationRow = z.object({
  nodePk: z.string(),
  network: z.enum(Object.keys(NETWORKS) as [Network, ...Network[]]),
});
const lastPlaceRow = z.object({ fingerprint: z.string() });

/** What all places share. */
export interface PlaceContext {
  readonly state: ConnectorRows;
  readonly random: (bytes: number) => Uint8Array;
  readonly contact: (reached: boolean) => void;
  /** Notes that a place speaks for a wallet; false when another one does. */
  readonly claim: (nodePk: string, place: LndPlace) => boolean;
}

/**
 * One configured place and the wallet that it speaks for. Before any token but the place's own is sent there, the node
 * has shown the wallet's key; where the wallet was last reached elsewhere, it has signed a fresh challenge with it
 * (decisions section 7).
 */
export class LndPlace {
  readonly endpoint: RemoteEndpoint;
  readonly #context: PlaceContext;
  readonly #fingerprint: string;
  readonly #declared: LndIdentity | null;
  readonly #keyMayChange: boolean;
  #ownToken: string | null;
  #proven: Promise<LndIdentity> | null = null;
  #problem: string | null = null;

  constructor(
    location: RemoteLocation,
    context: PlaceContext,
    options: {
      /** The token that configuration gives for this place; null while it is not known. */
      readonly ownToken: string | null;
      /** What configuration says of the wallet; null where the first contact tells. */
      readonly declared: LndIdentity | null;
      /** Whether the place may come to speak for another wallet: at that of a root seed, when the seed changes. */
      readonly keyMayChange: boolean;
    },
  ) {
    this.endpoint = new RemoteEndpoint(location);
    this.#context = context;
    this.#fingerprint = fingerprintOf(location);
    this.#declared = options.declared;
    this.#keyMayChange = options.keyMayChange;
    this.#ownToken = options.ownToken;
  }

  /** Why the place cannot be used as it is configured; null when nothing is known against it. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Says that the place cannot be used, for health. */
  condemn(problem: string): void {
    this.#problem = `The LND at ${this.endpoint.location.url}: ${problem}`;
  }

  /** The place's own token, once it is known. */
  useToken(token: string): void {
    this.#ownToken = token;
    this.#proven = null;
  }

  /** The wallet by configuration or an earlier contact, without asking the node; null while it is not known. */
  async known(): Promise<LndIdentity | null> {
    if (this.#declared) return this.#declared;
    const found = await this.#context.state.get(NO_WALLET, LOCATION, this.#fingerprint);
    return locationRow.nullable().parse(found ?? null);
  }

  /** The wallet that the node here has shown to be. Asks it once; throws {@link ApiError} where it has not. */
  prove(): Promise<LndIdentity> {
    this.#proven ??= this.#prove().catch((error: unknown) => {
      this.#proven = null;
      throw error;
    });
    return this.#proven;
  }

  /** LND here with the place's own token. Its calls wait until the wallet is proven. */
  owner(): LndRest {
    return this.with(() => this.#token());
  }

  /** LND here with another token of the wallet. */
  with(token: () => string): LndRest {
    return new LndRest(this.endpoint, token, {
      contact: this.#context.contact,
      ready: async () => {
        await this.prove();
      },
    });
  }

  /** LND here with the place's own token, before anything is proven. */
  unproven(): LndRest {
    return new LndRest(this.endpoint, () => this.#token(), {
      contact: this.#context.contact,
      rejected: () =>
        this.condemn('it does not accept the configured macaroon: run `connect lnd` again.'),
    });
  }

  #token(): string {
    if (this.#ownToken !== null) return this.#ownToken;
    throw new ApiError(
      'unreachable',
      'The wallet of the root seed is not open yet: use it with the root seed first.',
    );
  }

  async #prove(): Promise<LndIdentity> {
    const { state, claim } = this.#context;
    const { info, network } = await readInfo(this.unproven());
    const identity = { nodePk: info.identity_pubkey, network };
    const known = await this.known();
    if (known !== null && known.nodePk !== identity.nodePk && !this.#keyMayChange) {
      throw this.#unusable(
        'its node key is not the one of the configured wallet. See that the URL is right, or run `connect lnd` again.',
      );
    }
    if (!claim(identity.nodePk, this)) {
      throw this.#unusable('another entry of the configuration is for the same node: remove one.');
    }
    const userPk = userPkOf(identity.nodePk);
    const last = lastPlaceRow.nullable().parse((await state.get(userPk, LAST_PLACE, LAST)) ?? null);
    if (last?.fingerprint !== this.#fingerprint) {
      if (last !== null) await this.#challenge(identity.nodePk);
      await state.put(userPk, LAST_PLACE, LAST, { fingerprint: this.#fingerprint });
    }
    if (this.#declared === null && known?.nodePk !== identity.nodePk) {
      await state.put(NO_WALLET, LOCATION, this.#fingerprint, identity);
    }
    this.#problem = null;
    return identity;
  }

  /** The wallet was last reached elsewhere: the node here must show that it holds the wallet's key. */
  async #challenge(nodePk: string): Promise<void> {
    const nonce = hex.encode(this.#context.random(32));
    const message = utf8ToBytes(`wallet-sidecar: ${nodePk} at ${this.#fingerprint}: ${nonce}`);
    const { signature } = await this.unproven()
      .post('/v1/signmessage', { msg: base64.encode(message) }, signatureShape, {
        harmlessTwice: true,
      })
      .catch((error: unknown) => {
        if (!isApiError(error, 'forbidden')) throw error;
        throw this.#unusable(
          'its URL or certificate is new, and the configured macaroon may not sign the proof that it is the same node (message:write). Run `connect lnd` with a macaroon that may, or go back to the earlier URL and certificate.',
        );
      });
    if (isSignedByNode(message, signature, nodePk)) return;
    throw this.#unusable(
      "its URL or certificate is new, and it did not sign with the wallet's node key. Nothing else was sent to it: check the URL.",
    );
  }

  #unusable(problem: string): ApiError {
    this.condemn(problem);
    return refused(this.#problem ?? problem);
  }
}
