import type { RemoteEvents } from '../calls/calls.ts';
import type { RemoteLocation } from '../calls/location.ts';
import type { Place } from './place.ts';

/** The location and the token of a configured place; a null token stands for the one that it has. */
export interface PlaceNow {
  readonly location: RemoteLocation;
  readonly token: string | null;
}

/**
 * A configured place that follows its files: the node may get a new certificate, URL or token while the sidecar runs.
 * The files are read again when the place does not answer as it was configured, or does not accept its token. The node
 * at the new place must then prove that it holds the wallet before it gets any token of a client
 * (docs/decisions.md 58).
 */
export class MovingPlace<Client> {
  #now: Place<Client>;
  readonly #reread: () => PlaceNow | null;
  readonly #moved: (before: Place<Client>, after: Place<Client>) => void;
  /** A call that began before the place moved may end after it; what it shows is then told to the new place. */
  readonly #events: RemoteEvents = {
    contact: (standing) => this.#now.events.contact?.(standing),
  };

  /** `reread` returns what the files say now; null where there is no file, or none that can be read. */
  constructor(
    place: Place<Client>,
    reread: () => PlaceNow | null,
    moved: (before: Place<Client>, after: Place<Client>) => void,
  ) {
    this.#now = place;
    this.#reread = reread;
    this.#moved = moved;
  }

  get now(): Place<Client> {
    return this.#now;
  }

  /** A client with the place's own token. Its calls wait until the wallet is proven. */
  owner(): Client {
    return this.#now.protocol.client(() => this.#now.target(), {
      ...this.#events,
      rejected: () => this.#now.ownTokenRejected(),
    });
  }

  /** A client with another token, whose calls wait for the proof. `rejected`: the node did not accept the token. */
  with(token: () => string, rejected: () => void = () => undefined): Client {
    const events = { ...this.#events, rejected };
    return this.#now.protocol.client(() => this.#now.target(token), events);
  }

  /** Reads the files again, and goes on at the place that they name now. */
  follow(): void {
    const next = this.#reread();
    if (next === null || this.#now.isAt(next.location, next.token)) return;
    const before = this.#now;
    this.#now = before.movedTo(next.location, next.token);
    this.#moved(before, this.#now);
  }
}
