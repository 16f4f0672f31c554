import type { Network } from '../../codecs/network.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyedLock } from '../../lib/keyed-lock.ts';
import type { Observation } from '../node.ts';
import type { LabelGrace } from './label-grace.ts';
import type { OddRows } from './odd-rows.ts';
import type { PublicChannels } from './public-channels.ts';
import type { Sendable } from './sendable.ts';

/** One LND wallet, shared by all handles to it. */
export interface LndWallet {
  /** Hex ed25519 public key that follows from the node's key, so that every credential names the same wallet. */
  readonly userPk: string;
  readonly nodePk: string;
  readonly network: Network;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly locks: KeyedLock;
  readonly local: LocalChanges;
  readonly labels: LabelGrace;
  readonly oddRows: OddRows;
  readonly publicChannels: PublicChannels;
  readonly sendable: Sendable;
  /** Payment hashes of sends whose outcome this process reads from the answer of the send call. */
  readonly sending: Set<string>;
  /** Aborts when the connector closes. */
  readonly closed: AbortSignal;
}

/** Passes changes that this process learns of by its own calls to the feed, if one is open. */
export class LocalChanges {
  readonly #listeners = new Set<LocalListener>();

  /** Calls the listener for each change until the returned function is called. */
  subscribe(listener: LocalListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Passes changed payments to the listeners. */
  publish(observations: readonly Observation[]): void {
    for (const { changed } of this.#listeners) changed(observations);
  }

  /** Asks the listeners to follow an invoice for a hash from now on. */
  followHold(hash: string): void {
    for (const { hold } of this.#listeners) hold(hash);
  }

  /** Asks the listeners to read the unfinished payments again, because one may have changed without a report. */
  requestLook(): void {
    for (const { look } of this.#listeners) look();
  }
}

interface LocalListener {
  readonly changed: (observations: readonly Observation[]) => void;
  readonly look: () => void;
  readonly hold: (hash: string) => void;
}
