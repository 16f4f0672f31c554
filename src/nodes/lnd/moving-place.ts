import type { RemoteLocation } from '../remote/location.ts';
import type { LndPlace } from './place.ts';
import { type LndEvents, LndRest } from './rest.ts';

/** The location and the token of a configured place; a null token stands for the one that it has. */
export interface PlaceNow {
  readonly location: RemoteLocation;
  readonly token: string | null;
}

/**
 * A configured place that follows its files: LND may get a new certificate, URL or macaroon while the sidecar runs. The
 * files are read again when the place does not answer as it was configured. The node at the new place must then prove
 * that it holds the wallet before it gets any token of a client (docs/decisions.md 58).
 */
export class MovingPlace {
  #now: LndPlace;
  readonly #reread: () => PlaceNow | null;
  readonly #moved: (before: LndPlace, after: LndPlace) => void;
  /** A call that began before the place moved may end after it; what it shows is then told to the new place. */
  readonly #events: LndEvents = {
    contact: (standing) => this.#now.events.contact?.(standing),
  };

  /** `reread` returns what the files say now; null where there is no file, or none that can be read. */
  constructor(
    place: LndPlace,
    reread: () => PlaceNow | null,
    moved: (before: LndPlace, after: LndPlace) => void,
  ) {
    this.#now = place;
    this.#reread = reread;
    this.#moved = moved;
  }

  /** The place as the configuration names it now. */
  get now(): LndPlace {
    return this.#now;
  }

  /** LND's REST interface with the place's own token. Its calls wait until the wallet is proven. */
  owner(): LndRest {
    return new LndRest(() => this.#now.target(), { ...this.#events, ...this.#opener() });
  }

  /** LND's REST interface with another token of the wallet. Its calls wait until the wallet is proven. */
  with(token: () => string): LndRest {
    return new LndRest(() => this.#now.target(token), { ...this.#events, ...this.#opener() });
  }

  /** Reads the files again, and goes on at the place that they name now. */
  follow(): void {
    const next = this.#reread();
    if (next === null || this.#now.isAt(next.location, next.token)) return;
    const before = this.#now;
    this.#now = before.movedTo(next.location, next.token);
    this.#moved(before, this.#now);
  }

  #opener(): Pick<LndEvents, 'opener'> {
    const { opener } = this.#now.events;
    return opener === undefined ? {} : { opener };
  }
}
