import type { Clock } from '../../lib/clock.ts';
import { type ClientRecord, isActive } from '../../model/clients/client.ts';
import { endedCredentials } from '../../model/errors.ts';

/** The current state of a client, shared by all its sessions. */
export interface LiveClient {
  readonly record: () => ClientRecord;
  /** Aborts when the client is revoked or expires. Its reason is the error to throw. Reading it checks the clock. */
  readonly ended: AbortSignal;
  /** Calls `listener` after every change of the record. Returns a function that removes the listener. */
  readonly onChange: (listener: () => void) => () => void;
}

/** The clients in use: a change reaches requests, waits and streams at once (docs/decisions.md 65). */
export interface LiveClients {
  /** The state of a client whose secret was checked, by its node's clock. Throws error 104 when it is not active. */
  open(record: ClientRecord, clock: Clock): LiveClient;
  /** Puts changed records in force, and ends clients that are no longer active. */
  changed(records: readonly ClientRecord[]): void;
  /** Ends the clients that have expired. It must be called when a clock was moved. */
  expire(): void;
  close(): void;
}

/** The longest time between two checks while any client can expire, so that a jump of the clock is noticed. */
const LONGEST_TIMER_MS = 60_000;

/** Creates an empty set of clients in use. */
export function liveClients(): LiveClients {
  // Sessions hold their client. A client without sessions is removed when it is garbage-collected.
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
    if (opened.expiresInMs !== null) arm();
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
    let soonestMs: number | null = null;
    for (const reference of live.values()) {
      const inMs = reference.deref()?.expiresInMs ?? null;
      if (inMs !== null) soonestMs = Math.min(soonestMs ?? LONGEST_TIMER_MS, inMs);
    }
    if (soonestMs !== null) timer = setTimeout(expire, Math.max(soonestMs, 0));
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
