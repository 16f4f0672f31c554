import type { Clock } from '../lib/clock.ts';
import { type ClientRecord, isActive } from '../model/client.ts';
import { endedCredentials } from '../model/errors.ts';

/** A client as it stands now, shared by all its sessions. */
export interface LiveClient {
  readonly record: () => ClientRecord;
  /** Aborts when the client is revoked or expires; its reason is the error to return. Looks at the clock when read. */
  readonly ended: AbortSignal;
  /** Calls back after every change of the record. Returns a function that stops that. */
  readonly onChange: (listener: () => void) => () => void;
}

/** The clients in use, so that a change or revocation reaches requests, waits and streams at once. */
export interface LiveClients {
  /**
   * The live state of a client that has proved itself; `clock` is its node's. Throws `unauthenticated` when it is no
   * longer active.
   */
  open(record: ClientRecord, clock: Clock): LiveClient;
  /** Puts new records in force; those that are no longer active end. */
  changed(records: readonly ClientRecord[]): void;
  /** Ends what has expired; to be called when the clock moved. */
  expire(): void;
  close(): void;
}

/** Clients are looked at no later than this while any can expire, so that a jump of the clock is noticed. */
const LONGEST_TIMER_MS = 60_000;

/** Opens the book of clients in use. */
export function liveClients(): LiveClients {
  // Sessions hold their client; what no session holds any more is forgotten.
  const live = new Map<string, WeakRef<Live>>();
  const forgotten = new FinalizationRegistry<string>((clientPk) => {
    if (live.get(clientPk)?.deref() === undefined) live.delete(clientPk);
  });
  let timer: ReturnType<typeof setTimeout> | undefined;

  function open(record: ClientRecord, clock: Clock): LiveClient {
    if (!isActive(record, clock.now())) throw endedCredentials();
    const known = live.get(record.clientPk)?.deref();
    if (known) return known;
    const opened = new Live(record, clock);
    live.set(record.clientPk, new WeakRef(opened));
    forgotten.register(opened, record.clientPk);
    arm();
    return opened;
  }

  function changed(records: readonly ClientRecord[]): void {
    for (const record of records) live.get(record.clientPk)?.deref()?.change(record);
    expire();
  }

  function expire(): void {
    for (const [clientPk, reference] of live) {
      const client = reference.deref();
      if (client?.active) continue;
      live.delete(clientPk);
      client?.end();
    }
    arm();
  }

  function arm(): void {
    clearTimeout(timer);
    const inMs = [...live.values()].flatMap((reference) => reference.deref()?.expiresInMs ?? []);
    if (inMs.length === 0) return;
    const soonestMs = inMs.reduce((least, ms) => Math.min(least, ms), LONGEST_TIMER_MS);
    timer = setTimeout(expire, Math.max(soonestMs, 0));
  }

  return { open, changed, expire, close: () => clearTimeout(timer) };
}

class Live implements LiveClient {
  readonly #ended = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #clock: Clock;
  #record: ClientRecord;

  constructor(record: ClientRecord, clock: Clock) {
    this.#record = record;
    this.#clock = clock;
  }

  get active(): boolean {
    return isActive(this.#record, this.#clock.now());
  }

  get expiresInMs(): number | null {
    const { expiresAtMs } = this.#record;
    return expiresAtMs === null ? null : expiresAtMs - this.#clock.now();
  }

  readonly record = (): ClientRecord => this.#record;

  get ended(): AbortSignal {
    if (!this.active) this.end();
    return this.#ended.signal;
  }

  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  change(record: ClientRecord): void {
    this.#record = record;
    for (const listener of this.#listeners) listener();
  }

  end(): void {
    this.#ended.abort(endedCredentials());
  }
}
