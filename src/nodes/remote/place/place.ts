import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { z } from 'zod';
import { NETWORKS, type Network } from '../../../codecs/network.ts';
import { elapsedMs } from '../../../lib/clock.ts';
import { ApiError, isApiError, refused } from '../../../model/errors.ts';
import type { ProxyAddress } from '../../../model/proxy-address.ts';
import type { ConnectorRows } from '../../remote-kind.ts';
import type { RemoteEvents, RemoteTarget } from '../calls/calls.ts';
import { RemoteEndpoint } from '../calls/endpoint.ts';
import { fingerprintOf, type RemoteLocation } from '../calls/location.ts';
import { StandingWatch } from '../calls/standing.ts';
import { type NodeIdentity, userPkOf } from './identity.ts';
import { isSignedByNode } from './node-signature.ts';
import type { PlaceProtocol } from './protocol.ts';

/**
 * Kinds of row, per kind of node. `location`, stored by a place's fingerprint: the wallet that the node there was found
 * to hold; these rows belong to no wallet, and the kind's name stands for one. `lastPlace`: the place at which a wallet
 * was last reached.
 */
const rowsOf = (kind: string) => ({
  noWallet: kind,
  location: `${kind}-location`,
  lastPlace: `${kind}-place`,
});
const LAST = 'last';

/** The longest that an answer for health is waited for, in the background. */
const PROBE_WITHIN_MS = 5000;

const locationRow = z.object({
  nodePk: z.string(),
  network: z.enum(Object.keys(NETWORKS) as [Network, ...Network[]]),
  /** What the wallet was opened with, where that may change; see {@link Place.useToken}. */
  openedWith: z.string().optional(),
});
const lastPlaceRow = z.object({ fingerprint: z.string() });

/** State that the places of one connector share. */
export interface PlaceContext<Client> {
  /** The proxy through which all places are reached; null is none. */
  readonly proxy: ProxyAddress | null;
  readonly state: ConnectorRows;
  readonly random: (bytes: number) => Uint8Array;
  /** Records that a place speaks for a wallet; returns false when another place does. */
  readonly claim: (nodePk: string, place: Place<Client>) => boolean;
  /** Called when the place does not answer as it is configured, or does not accept its own token. */
  readonly lost: (place: Place<Client>) => void;
}

/**
 * One configured place and the wallet of the node there. A client's token is sent to the place only after the node has
 * shown the wallet's node key. Where the wallet was last reached at another place, the node must also sign a fresh
 * challenge with that key (docs/decisions.md 58).
 */
export class Place<Client> {
  readonly endpoint: RemoteEndpoint;
  readonly protocol: PlaceProtocol<Client>;
  /** What each call that goes here shows. */
  readonly events: RemoteEvents;
  readonly #context: PlaceContext<Client>;
  readonly #fingerprint: string;
  readonly #declared: NodeIdentity | null;
  readonly #keyMayChange: boolean;
  #ownToken: string | null;
  /** Absent for a configured place, whose wallet does not change. */
  #openedWith: string | undefined;
  #proven: Promise<NodeIdentity> | null = null;
  #problem: string | null = null;
  readonly #standing: StandingWatch;
  readonly #rows: ReturnType<typeof rowsOf>;

  constructor(
    protocol: PlaceProtocol<Client>,
    location: RemoteLocation,
    context: PlaceContext<Client>,
    options: {
      /** The token that the configuration gives for this place; null while it is not known. */
      readonly ownToken: string | null;
      /** The wallet as the configuration names it; null where the first contact finds it out. */
      readonly declared: NodeIdentity | null;
      /** Whether the place may change to another wallet: only for a root seed's place, as the seed may change. */
      readonly keyMayChange: boolean;
    },
  ) {
    this.protocol = protocol;
    this.endpoint = new RemoteEndpoint(location, context.proxy);
    this.#context = context;
    this.#fingerprint = fingerprintOf(location);
    this.#declared = options.declared;
    this.#keyMayChange = options.keyMayChange;
    this.#ownToken = options.ownToken;
    this.#rows = rowsOf(protocol.kind);
    this.#standing = new StandingWatch(elapsedMs, () => this.#probe());
    this.events = {
      contact: (standing) => {
        this.#standing.note(standing);
        if (standing === 'silent') context.lost(this);
      },
    };
  }

  /** The place's own token; null while it is not known. */
  get ownToken(): string | null {
    return this.#ownToken;
  }

  /** This place at the location, and with the token, that the configuration names now; null keeps the token. */
  movedTo(location: RemoteLocation, token: string | null): Place<Client> {
    const moved = new Place(this.protocol, location, this.#context, {
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
    this.#problem = `${this.#name}: ${problem}`;
  }

  /** Sets the place's own token, once it is known. `openedWith` is the same for the same wallet, and no secret. */
  useToken(token: string, openedWith: string): void {
    this.#ownToken = token;
    this.#openedWith = openedWith;
    this.#proven = null;
  }

  /** The wallet by configuration or by an earlier contact, without asking the node; null while it is not known. */
  async known(): Promise<NodeIdentity | null> {
    if (this.#declared) return this.#declared;
    return this.#found();
  }

  /** Works as {@link known}, but returns null when the earlier contact was with the wallet of another seed. */
  async knownByToken(): Promise<NodeIdentity | null> {
    const found = await this.#found();
    return found !== null && found.openedWith === this.#openedWith ? found : null;
  }

  async #found(): Promise<z.output<typeof locationRow> | null> {
    const found = await this.#context.state.get(
      this.#rows.noWallet,
      this.#rows.location,
      this.#fingerprint,
    );
    return locationRow.nullable().parse(found ?? null);
  }

  /** The wallet of the node here, once it is proven; the node is asked once. Throws {@link ApiError}. */
  prove(): Promise<NodeIdentity> {
    this.#proven ??= this.#prove().catch((error: unknown) => {
      this.#proven = null;
      throw error;
    });
    return this.#proven;
  }

  /** Where the calls with a token of the wallet go, once the wallet is proven; without one, the place's own token. */
  async target(token: () => string = () => this.#token()): Promise<RemoteTarget> {
    await this.prove();
    return { endpoint: this.endpoint, token };
  }

  /** A client with the place's own token, which does not wait for a proof of the wallet. */
  unproven(): Client {
    const target = { endpoint: this.endpoint, token: () => this.#token() };
    return this.protocol.client(target, {
      ...this.events,
      rejected: () => this.ownTokenRejected(),
    });
  }

  /**
   * Must be called when the node does not accept the place's own token any more. Health says so until the node accepts
   * it again, which the next call finds out, or the configuration names another one.
   */
  ownTokenRejected(): void {
    const { kind, tokenName } = this.protocol;
    this.#proven = null;
    this.markUnusable(
      `it does not accept the configured ${tokenName}: run \`connect ${kind}\` again.`,
    );
    this.#context.lost(this);
  }

  get #name(): string {
    return `The ${this.protocol.title} at ${this.endpoint.location.url}`;
  }

  #absence(): string | null {
    const standing = this.#standing.now();
    switch (standing) {
      case 'open':
        return null;
      case 'unknown':
        return `${this.#name} has not been asked yet: ask for health again in a moment.`;
      case 'silent':
        return this.#context.proxy === null
          ? `${this.#name} did not answer when it was last asked: check that it runs.`
          : `${this.#name} did not answer through the SOCKS5 proxy of --node-proxy when it was last asked: check that both run.`;
      default:
        return `${this.#name} ${standing.closed}`;
    }
  }

  #probe(): Promise<void> {
    const hasToken = this.#ownToken !== null;
    return this.protocol.probe(this.unproven(), { hasToken, timeoutMs: PROBE_WITHIN_MS });
  }

  #token(): string {
    if (this.#ownToken !== null) return this.#ownToken;
    throw new ApiError(
      'unreachable',
      'The wallet of the root seed is not open yet: make a request as its owner first.',
    );
  }

  async #prove(): Promise<NodeIdentity> {
    const { state, claim } = this.#context;
    const { kind } = this.protocol;
    const { nodePk, network } = await this.protocol.identify(this.unproven());
    const identity = { nodePk, network };
    const known = await (this.#keyMayChange ? this.knownByToken() : this.known());
    if (known !== null && known.nodePk !== nodePk) {
      throw this.#unusable(
        `its node key is not the one of the configured wallet. Check the URL, or run \`connect ${kind}\` again.`,
      );
    }
    if (!claim(nodePk, this)) {
      throw this.#unusable('another entry of the configuration is for the same node: remove one.');
    }
    const userPk = userPkOf(kind, nodePk);
    const last = lastPlaceRow
      .nullable()
      .parse((await state.get(userPk, this.#rows.lastPlace, LAST)) ?? null);
    if (last?.fingerprint !== this.#fingerprint) {
      if (last !== null) await this.#challenge(nodePk);
      await state.put(userPk, this.#rows.lastPlace, LAST, { fingerprint: this.#fingerprint });
    }
    if (this.#declared === null && (await this.knownByToken())?.nodePk !== nodePk) {
      const row = { ...identity, openedWith: this.#openedWith };
      await state.put(this.#rows.noWallet, this.#rows.location, this.#fingerprint, row);
    }
    this.#problem = null;
    return identity;
  }

  /** Makes the node sign a challenge with the wallet's key, because the wallet was last reached at another place. */
  async #challenge(nodePk: string): Promise<void> {
    const nonce = hex.encode(this.#context.random(32));
    const { kind, tokenName, toSign } = this.protocol;
    const message = `wallet-sidecar: ${nodePk} at ${this.#fingerprint}: ${nonce}`;
    const signature = await this.protocol.sign(this.unproven(), message).catch((error: unknown) => {
      if (!isApiError(error, 'forbidden')) throw error;
      throw this.#unusable(
        `its URL or certificate is new, and the configured ${tokenName} may not sign the proof that it is the same node (${toSign}). Run \`connect ${kind}\` with a ${tokenName} that may, or go back to the earlier URL and certificate.`,
      );
    });
    if (isSignedByNode(utf8ToBytes(message), signature, nodePk)) return;
    throw this.#unusable(
      "its URL or certificate is new, and it did not sign with the wallet's node key. Nothing else was sent to it: check the URL.",
    );
  }

  #unusable(problem: string): ApiError {
    this.markUnusable(problem);
    return refused(this.#problem ?? problem);
  }
}
