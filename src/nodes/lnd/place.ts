import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64, hex } from '@scure/base';
import { z } from 'zod';
import { NETWORKS, type Network } from '../../codecs/network.ts';
import { elapsedMs } from '../../lib/clock.ts';
import { ApiError, isApiError, refused } from '../../model/errors.ts';
import type { ProxyAddress } from '../../model/proxy-address.ts';
import { RemoteEndpoint } from '../remote/endpoint.ts';
import { fingerprintOf, type RemoteLocation } from '../remote/location.ts';
import type { ConnectorRows } from '../remote-kind.ts';
import { type LndIdentity, userPkOf } from './identity.ts';
import { readInfo } from './info.ts';
import { isSignedByNode } from './node-signature.ts';
import { nextStep, type Opener } from './refusal.ts';
import { type LndEvents, LndRest, type LndTarget } from './rest.ts';
import { StandingWatch } from './standing.ts';
import { infoShape, signatureShape } from './wire.ts';

/**
 * Kind of row, stored by a place's fingerprint: the wallet that the node there was found to hold. These rows belong to
 * no wallet.
 */
const LOCATION = 'lnd-location';
const NO_WALLET = 'lnd';
/** Kind of row: the place at which a wallet was last reached. */
const LAST_PLACE = 'lnd-place';
const LAST = 'last';

/** The longest that an answer for health is waited for, in the background. */
const PROBE_WITHIN_MS = 5000;

const locationRow = z.object({
  nodePk: z.string(),
  network: z.enum(Object.keys(NETWORKS) as [Network, ...Network[]]),
  /** What the wallet was opened with, where that may change; see {@link LndPlace.useToken}. */
  openedWith: z.string().optional(),
});
const lastPlaceRow = z.object({ fingerprint: z.string() });

/** State that the places of one connector share. */
export interface PlaceContext {
  /** The proxy through which all places are reached; null is none. */
  readonly proxy: ProxyAddress | null;
  readonly state: ConnectorRows;
  readonly random: (bytes: number) => Uint8Array;
  /** Records that a place speaks for a wallet; returns false when another place does. */
  readonly claim: (nodePk: string, place: LndPlace) => boolean;
  /** Called when the place does not answer as it is configured, or does not accept its own token. */
  readonly lost: (place: LndPlace) => void;
}

/**
 * One configured place and the wallet of the node there. A client's token is sent to the place only after the node has
 * shown the wallet's node key. Where the wallet was last reached at another place, the node must also sign a fresh
 * challenge with that key (docs/decisions.md 58).
 */
export class LndPlace {
  readonly endpoint: RemoteEndpoint;
  /** What each call that goes here shows. */
  readonly events: LndEvents;
  readonly #context: PlaceContext;
  readonly #fingerprint: string;
  readonly #declared: LndIdentity | null;
  readonly #keyMayChange: boolean;
  #ownToken: string | null;
  /** Absent for a configured place, whose wallet does not change. */
  #openedWith: string | undefined;
  #proven: Promise<LndIdentity> | null = null;
  #problem: string | null = null;
  readonly #standing: StandingWatch;
  readonly #opener: Opener;

  constructor(
    location: RemoteLocation,
    context: PlaceContext,
    options: {
      /** The token that the configuration gives for this place; null while it is not known. */
      readonly ownToken: string | null;
      /** The wallet as the configuration names it; null where the first contact finds it out. */
      readonly declared: LndIdentity | null;
      /**
       * Whether the place may change to another wallet. True only for a root seed's place, because the seed may change.
       */
      readonly keyMayChange: boolean;
    },
  ) {
    this.endpoint = new RemoteEndpoint(location, context.proxy);
    this.#context = context;
    this.#fingerprint = fingerprintOf(location);
    this.#declared = options.declared;
    this.#keyMayChange = options.keyMayChange;
    this.#ownToken = options.ownToken;
    this.#opener = options.keyMayChange ? 'rootSeed' : 'operator';
    this.#standing = new StandingWatch(elapsedMs, () => this.#probe());
    this.events = {
      opener: this.#opener,
      contact: (standing) => {
        this.#standing.note(standing);
        if (standing === 'silent') context.lost(this);
      },
    };
  }

  /** This place at the location, and with the token, that the configuration names now; null keeps the token. */
  movedTo(location: RemoteLocation, token: string | null): LndPlace {
    const moved = new LndPlace(location, this.#context, {
      ownToken: token ?? this.#ownToken,
      declared: this.#declared,
      keyMayChange: this.#keyMayChange,
    });
    moved.#openedWith = this.#openedWith;
    return moved;
  }

  /** Whether the location and the token are those of this place; null is any token. */
  isAt(location: RemoteLocation, token: string | null): boolean {
    return (
      fingerprintOf(location) === this.#fingerprint && (token === null || token === this.#ownToken)
    );
  }

  /**
   * Why the place cannot be used, and what to do; null when no reason is known. Returns at once. A place that was not
   * in contact for long is asked in the background.
   */
  get problem(): string | null {
    return this.#problem ?? this.#absence();
  }

  /** Records why the place cannot be used; health shows it. */
  markUnusable(problem: string): void {
    this.#problem = `The LND at ${this.endpoint.location.url}: ${problem}`;
  }

  /** Sets the place's own token, once it is known. `openedWith` is the same for the same wallet, and no secret. */
  useToken(token: string, openedWith: string): void {
    this.#ownToken = token;
    this.#openedWith = openedWith;
    this.#proven = null;
  }

  /** The wallet by configuration or by an earlier contact, without asking the node; null while it is not known. */
  async known(): Promise<LndIdentity | null> {
    if (this.#declared) return this.#declared;
    return this.#found();
  }

  /** Works as {@link known}, but returns null when the earlier contact was with the wallet of another seed. */
  async knownByToken(): Promise<LndIdentity | null> {
    const found = await this.#found();
    return found !== null && found.openedWith === this.#openedWith ? found : null;
  }

  async #found(): Promise<z.output<typeof locationRow> | null> {
    const found = await this.#context.state.get(NO_WALLET, LOCATION, this.#fingerprint);
    return locationRow.nullable().parse(found ?? null);
  }

  /**
   * The wallet of the node here, after the node has proven it. The node is asked once. Throws {@link ApiError} when the
   * proof fails.
   */
  prove(): Promise<LndIdentity> {
    this.#proven ??= this.#prove().catch((error: unknown) => {
      this.#proven = null;
      throw error;
    });
    return this.#proven;
  }

  /** Where the calls with a token of the wallet go, once the wallet is proven; without one, the place's own token. */
  async target(token: () => string = () => this.#token()): Promise<LndTarget> {
    await this.prove();
    return { endpoint: this.endpoint, macaroonHex: token };
  }

  /** LND's REST interface here with the place's own token, without waiting for a proof of the wallet. */
  unproven(): LndRest {
    const target = { endpoint: this.endpoint, macaroonHex: () => this.#token() };
    return new LndRest(target, {
      ...this.events,
      rejected: () => {
        this.markUnusable('it does not accept the configured macaroon: run `connect lnd` again.');
        this.#context.lost(this);
      },
    });
  }

  #absence(): string | null {
    const standing = this.#standing.now();
    const lnd = `The LND at ${this.endpoint.location.url}`;
    switch (standing) {
      case 'open':
        return null;
      case 'unknown':
        return `${lnd} has not been asked yet: ask for health again in a moment.`;
      case 'silent':
        return `${lnd} did not answer when it was last asked: check that it runs.`;
      case 'no_wallet':
        return `${lnd} has no wallet yet: ${nextStep(standing, this.#opener)}.`;
      case 'locked':
        return `${lnd} is locked: ${nextStep(standing, this.#opener)}.`;
      case 'starting':
        return `${lnd} is starting or stopping: ${nextStep(standing, this.#opener)}.`;
    }
  }

  /** Asks LND for its state, which needs no macaroon, then makes a call, which shows whether it serves. */
  async #probe(): Promise<void> {
    const rest = this.unproven();
    const options = { timeoutMs: PROBE_WITHIN_MS };
    const state = await rest.state(options);
    if (state !== 'SERVER_ACTIVE' || this.#ownToken === null) return;
    await rest.get('/v1/getinfo', infoShape, options);
  }

  #token(): string {
    if (this.#ownToken !== null) return this.#ownToken;
    throw new ApiError(
      'unreachable',
      'The wallet of the root seed is not open yet: make a request as its owner first.',
    );
  }

  async #prove(): Promise<LndIdentity> {
    const { state, claim } = this.#context;
    const { info, network } = await readInfo(this.unproven()).catch((error: unknown) => {
      throw this.#opener === 'rootSeed' && isApiError(error, 'unauthenticated')
        ? ofAnotherSeed(error)
        : error;
    });
    const identity = { nodePk: info.identity_pubkey, network };
    const known = await (this.#keyMayChange ? this.knownByToken() : this.known());
    if (known !== null && known.nodePk !== identity.nodePk) {
      throw this.#unusable(
        'its node key is not the one of the configured wallet. Check the URL, or run `connect lnd` again.',
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
    if (this.#declared === null && (await this.knownByToken())?.nodePk !== identity.nodePk) {
      const row = { ...identity, openedWith: this.#openedWith };
      await state.put(NO_WALLET, LOCATION, this.#fingerprint, row);
    }
    this.#problem = null;
    return identity;
  }

  /** Makes the node sign a challenge with the wallet's key, because the wallet was last reached at another place. */
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
    this.markUnusable(problem);
    return refused(this.#problem ?? problem);
  }
}

function ofAnotherSeed(cause: unknown): ApiError {
  return new ApiError(
    'unauthenticated',
    'The LND at --node-url has a wallet of another root seed: give that seed, or another LND.',
    { cause },
  );
}
