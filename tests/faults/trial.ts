import { expect } from 'bun:test';
import { amountInput } from '../../src/model/amount.ts';
import type { BudgetJson } from '../../src/model/clients/budget.ts';
import type { PaymentJson } from '../../src/model/payment.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { freePort } from '../support/ports.ts';
import type { FaultyDisk } from './faulty-disk.ts';
import type { JumpingClock } from './jumping-clock.ts';
import { type UnreliableReceiver, unreliableReceiver } from './receiver.ts';
import { type FileRow, rowsOf, sandboxPayments, sqlitePaymentRows } from './rows.ts';
import { type Tail, tailByStream, tailByWaits } from './tails.ts';
import { eventually, expectOneTruth, unrefunded, walked } from './truth.ts';

/** In whose name a request is made, under which key, and whether it waits for the end of a payment. */
interface Asking {
  readonly as?: string;
  readonly key?: string;
  readonly isPatient?: boolean;
}

/** A time longer than the lease of a delivery that a killed process left. */
const LEASES_OVER_MS = 60_000;

/** A client with a budget. */
export interface Spender {
  readonly clientPk: string;
  readonly credentials: string;
}

/** Thrown when a budget does not count what its client has spent. */
export class WrongBudget extends Error {}

/**
 * A sidecar whose process may be killed at any step. It has the trial wallet, whose clients pay, and another wallet.
 */
export class Trial {
  readonly receiver: UnreliableReceiver;
  /** The payment indexes in answers. No other payment may exist. */
  readonly made = new Set<string>();
  /** Indexes of payments that the trial wallet has held. */
  readonly held = new Set<string>();
  /** What the payments of each spender cost in millisatoshis, by the client's public key. */
  readonly spent = new Map<string, bigint>();
  readonly #dataDir: string;
  readonly #disk: FaultyDisk;
  readonly #clock: JumpingClock;
  readonly #port = freePort();
  #sidecar: DevSidecar | null = null;
  #other = '';
  #tails: readonly Tail[] = [];
  #othersTails: readonly Tail[] = [];
  /** Indexes of the payments by which the sandbox has funded the other wallet. */
  #given: ReadonlySet<string> = new Set();

  constructor(options: {
    readonly dataDir: string;
    readonly disk: FaultyDisk;
    readonly clock: JumpingClock;
  }) {
    this.#dataDir = options.dataDir;
    this.#disk = options.disk;
    this.#clock = options.clock;
    this.receiver = unreliableReceiver(() => 1);
  }

  get sidecar(): DevSidecar {
    if (this.#sidecar) return this.#sidecar;
    throw new Error('the sidecar is not started');
  }

  /** The credentials of the other wallet. */
  get other(): string {
    return this.#other;
  }

  async open(): Promise<this> {
    await this.#start();
    const place = { baseUrl: () => this.sidecar.baseUrl };
    this.#tails = [tailByStream(place), tailByWaits(place)];
    this.#other = (await this.post<Credentials>('/sandbox/wallets', {})).client_credentials;
    const others = { ...place, credentials: this.#other };
    this.#othersTails = [tailByStream(others), tailByWaits(others)];
    const given = await walked({ ...others, baseUrl: this.sidecar.baseUrl });
    this.#given = new Set(given.map(({ index }) => index));
    for (const rail of ['lightning', 'onchain']) {
      await this.post('/sandbox/fund', { amount: '50000000', rail });
    }
    await this.post('/sandbox/blocks', { count: 6 });
    return this;
  }

  /** Starts the sidecar again after its process was killed. */
  async restart(): Promise<void> {
    await this.sidecar.kill();
    await this.#start();
  }

  /** Ends all processes, also when the test failed. */
  async close(): Promise<void> {
    await this.#stopTails();
    await this.#sidecar?.kill();
    await this.receiver.stop();
  }

  async #start(): Promise<void> {
    this.#disk.disarm();
    const { LD_PRELOAD: disk, ...env } = this.#disk.env;
    this.#sidecar = await startDevSidecar({
      dataDir: this.#dataDir,
      port: this.#port,
      webhookUrl: this.receiver.url,
      env: {
        ...this.#clock.env,
        ...env,
        LD_PRELOAD: `${disk}:${this.#clock.env.LD_PRELOAD}`,
        ...this.receiver.env,
        SERVICE_WEBHOOK_EVENTS: 'payment.finalized,payment.held',
      },
    });
  }

  /** Sends a GET request as the owner of the trial wallet, or with the credentials `as`. */
  async get<T>(path: string, query: Record<string, string> = {}, as?: string): Promise<T> {
    const who = as === undefined ? {} : { credentials: as };
    return (await this.sidecar.call('GET', path, { query, ...who })) as T;
  }

  async send<T = unknown>(
    method: 'POST' | 'PUT',
    path: string,
    body: unknown,
    { as, key, isPatient = true }: Asking = {},
  ): Promise<T> {
    return (await this.sidecar.call(method, path, {
      body,
      ...(as === undefined ? {} : { credentials: as }),
      headers: {
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(isPatient ? {} : { prefer: 'respond-async' }),
      },
    })) as T;
  }

  post<T = unknown>(path: string, body: unknown, who: Asking = {}): Promise<T> {
    return this.send('POST', path, body, who);
  }

  /** Creates a client with a large budget, which it cannot pass on. */
  async spender(label: string, limits: object = {}): Promise<Spender> {
    const { client_pk, client_credentials } = await this.post<Credentials>(
      '/v2/node/create_client',
      { label, scopes: ['full'], budget: { amount: '2000000000', period: 'total' }, ...limits },
    );
    return { clientPk: client_pk, credentials: client_credentials };
  }

  /** Reads a payment by GET, and adds it to {@link made}. */
  async payment(index: string, credentials?: string): Promise<PaymentJson> {
    this.made.add(index);
    return this.get('/v2/node/payment', { index }, credentials);
  }

  /** Checks that exactly `costMsat` of the client's budget is spent and nothing is reserved, and revokes the client. */
  async expectSpent({ clientPk, credentials }: Spender, costMsat: bigint): Promise<void> {
    // The end of an on-chain payment reaches the budget through the feed, which nothing else waits for.
    await eventually(() => this.#heldBack(clientPk) === 0);
    const { budget } = await this.get<{ budget: BudgetJson }>(
      '/v2/node/client_info',
      {},
      credentials,
    );
    this.spent.set(clientPk, costMsat);
    await this.post('/v2/node/revoke_client', { client_pk: clientPk });
    if (msat(budget.spent) === costMsat) return;
    throw new WrongBudget(`${msat(budget.spent)} msat are spent of the budget, not ${costMsat}`);
  }

  #heldBack(clientPk: string): number {
    const sql = 'SELECT count(*) AS n FROM spending WHERE client_pk = ? AND NOT settled';
    return this.#read(sql, [clientPk])[0]?.n as number;
  }

  /** The balance of the trial wallet, in millisatoshis. */
  async balanceMsat(): Promise<bigint> {
    return msat((await this.get<{ balance: string }>('/v2/node/node_info')).balance);
  }

  /** How many deliveries newer than `since` are pending. */
  pendingDeliveries(since = 0): number {
    return this.#read('SELECT count(*) AS n FROM delivery WHERE state = ? AND seq > ?', [
      'pending',
      since,
    ])[0]?.n as number;
  }

  newestDelivery(): number {
    return (this.#read('SELECT max(seq) AS n FROM delivery', [])[0]?.n as number | null) ?? 0;
  }

  /** Checks that all who tell of the payments of both wallets agree. Returns those of the trial wallet. */
  async expectOneTruth(): Promise<readonly PaymentJson[]> {
    const wallet = {
      baseUrl: this.sidecar.baseUrl,
      rows: sqlitePaymentRows(this.#dataDir),
      atNode: (payments: readonly PaymentJson[], userPk: string) => {
        expect(sandboxPayments(this.#dataDir, userPk)).toEqual(unrefunded(payments));
      },
    };
    await expectOneTruth({
      ...wallet,
      credentials: this.#other,
      tails: this.#othersTails,
      // What arrives on chain has no watch of its own: its address has one.
      isWatched: ({ index, rail, status }) =>
        !this.#given.has(index) && (rail === 'invoice' || status !== 'pending'),
    });
    return expectOneTruth({
      ...wallet,
      tails: this.#tails,
      isWatched: ({ index }) => this.made.has(index),
    });
  }

  async #stopTails(): Promise<void> {
    await Promise.all([...this.#tails, ...this.#othersTails].map((tail) => tail.stop()));
  }

  /** Waits until everything has ended, and checks what must hold for all requests together. */
  async finish(): Promise<void> {
    await this.post('/sandbox/blocks', { count: 6 });
    this.#clock.set(LEASES_OVER_MS);
    await eventually(() => this.pendingDeliveries() === 0);
    const payments = await this.expectOneTruth();
    await this.#stopTails();
    const unasked = payments.filter(
      ({ index, direction, rail }) =>
        !this.made.has(index) && (direction === 'outbound' || rail === 'invoice'),
    );
    expect(unasked.map(shortly)).toEqual([]);
    const over = payments.filter(
      ({ index, status }) => this.made.has(index) && status !== 'pending',
    );
    const noticed = over.map((one) => ({
      ...shortly(one),
      ids: this.receiver.ids(one.direction === 'outbound', one.index).size,
    }));
    expect(noticed.filter(({ ids }) => ids !== 1)).toEqual([]);
    const held = [...this.held].map((index) => [index, this.receiver.heldIds(index).size]);
    expect(held.filter(([, ids]) => ids !== 1)).toEqual([]);
    expect(this.receiver.invalid()).toEqual([]);
    const { status } = await this.get<{ status: string }>('/v2/health');
    expect(status).not.toMatch(/marker|restored|replaced/);
    expect(await this.sidecar.stop()).toBe(0);
    this.#expectNothingLeft();
  }

  /** Checks that the database holds no leftovers of final payments. */
  #expectNothingLeft(): void {
    expect(this.#read('SELECT idx, amount_msat FROM spending WHERE NOT settled', [])).toEqual([]);
    const sums = this.#read(
      'SELECT client_pk AS pk, CAST(sum(amount_msat) AS TEXT) AS msat FROM spending GROUP BY pk',
      [],
    );
    const wrong = sums.filter(
      ({ pk, msat: spent }) => this.spent.get(`${pk}`) !== BigInt(`${spent}`),
    );
    expect(wrong).toEqual([]);
    const unanswered = 'SELECT key FROM idempotency WHERE http_status IS NULL AND NOT gone';
    expect(this.#read(unanswered, [])).toEqual([]);
    expect(this.#read("SELECT idx FROM delivery WHERE state != 'delivered'", [])).toEqual([]);
  }

  #read(sql: string, bindings: readonly (string | number)[]): FileRow[] {
    return rowsOf(this.#dataDir, 'sidecar', sql, bindings);
  }
}

interface Credentials {
  readonly client_pk: string;
  readonly client_credentials: string;
}

export function msat(sats: string): bigint {
  return amountInput().parse(sats);
}

/** What a payment cost its wallet, in millisatoshis. */
export function costOf({ amount, fees, status }: PaymentJson): bigint {
  return status === 'failed' ? 0n : msat(amount ?? '0') + msat(fees);
}

function shortly({ index, direction, rail, status, status_msg }: PaymentJson) {
  return { index, direction, rail, status, status_msg };
}
