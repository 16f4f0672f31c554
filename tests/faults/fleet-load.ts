import type { FakeLnd } from '../hostile/fake-lnd.ts';
import { type Answer, type Body, send } from '../support/requests.ts';
import { type Bill, Bills } from './bills.ts';
import type { Fleet, Member } from './fleet-world.ts';

/** A payment that a caller makes, of one sat. */
/** What became of a round's requests. */
export interface RoundOutcome {
  /** Payments with a key that are completed. */
  readonly paid: number;
  /**
   * Payments whose sidecar was killed between the commit that says that they are sent and the request to the node. They
   * stay pending until their invoices have expired (docs/decisions.md 37).
   */
  readonly stranded: readonly Stranded[];
  /** Indexes of payments of which notices are due. */
  readonly finished: readonly string[];
  /** How often callers had to call again, at another sidecar. */
  readonly calledAgain: number;
  /** The longest time from a fault until a sidecar that it did not hit has answered, in milliseconds. */
  readonly awayMs: number;
}

/** A payment and how its caller sees it. */
export interface Stranded {
  readonly index: string;
  readonly hash: string;
  readonly status: string;
}

/** How often a caller asks for a payment that the node does not know, before it gives up. */
const MOST_PENDING = 2;
/** How long a caller waits for one answer before it calls another sidecar. */
const PATIENCE_MS = 30_000;

/** Callers of a fleet, which choose a sidecar at random for each call, as a simple proxy would. */
export class FleetLoad {
  readonly #fleet: Fleet;
  readonly #fake: FakeLnd;
  readonly #random: () => number;
  readonly #credentials: string;
  readonly #open = new Map<string, string>();
  readonly #bills: Bills;
  #invoices = 0;
  #calledAgain = 0;

  constructor(
    fleet: Fleet,
    { fake, random, credentials }: { fake: FakeLnd; random: () => number; credentials: string },
  ) {
    this.#fleet = fleet;
    this.#fake = fake;
    this.#bills = new Bills(fake);
    this.#random = random;
    this.#credentials = credentials;
  }

  /** Says which calls are not over, and what each was told last. */
  waiting(): string {
    return [...this.#open].map(([call, told]) => `${call}: ${told}`).join('; ');
  }

  any(): Member {
    const { members } = this.#fleet;
    const member = members[Math.floor(this.#random() * members.length)];
    if (member === undefined) throw new Error('there are no sidecars');
    return member;
  }

  /** Makes payments and receipts while `fault` happens, and resolves when every caller knows the outcome. */
  async round(
    count: number,
    fault: () => Promise<readonly Member[]>,
  ): Promise<RoundOutcome & { readonly unkeyed: Unkeyed }> {
    this.#calledAgain = 0;
    this.#open.clear();
    const bills = this.#bills.some(count);
    const held = bills.filter((_, at) => at % 2 === 0);
    for (const { hash } of held) this.#fake.payments.decide(hash, { end: 'hold' });
    const paying = bills.map((bill) => this.#paid(bill));
    const unkeyed = this.#unkeyed();
    const receiving = this.#received();
    while (!held.every(({ hash }) => this.#fake.payments.attempts.has(hash))) await Bun.sleep(5);
    const unhit = await fault();
    const startedMs = performance.now();
    const away = Promise.all(unhit.map((member) => this.#answers(member)));
    for (const { hash } of held) this.#fake.payments.resolve(hash, { end: 'succeed' });
    const more = Array.from({ length: count }, () => this.#paid(this.#bills.one()));
    await away;
    const awayMs = performance.now() - startedMs;
    const payments = await Promise.all([...paying, ...more]);
    const received = await receiving;
    const completed = payments.filter(({ status }) => status === 'completed');
    return {
      paid: completed.length,
      stranded: payments.filter(({ status }) => status === 'pending'),
      finished: [...completed.map(({ index }) => index), received],
      calledAgain: this.#calledAgain,
      awayMs,
      unkeyed: await unkeyed,
    };
  }

  /** Calls with one key until the payment is completed or stranded; throws when it was sent more than once. */
  async #paid({ invoice, hash, key }: Bill): Promise<Stranded> {
    for (let pending = 0; ; ) {
      const { index, status } = await this.#untilDone('POST', '/v2/node/pay_invoice', {
        body: { invoice },
        headers: { 'idempotency-key': key, prefer: 'wait=5' },
      });
      const attempts = this.#fake.payments.attempts.get(hash) ?? 0;
      if (attempts > 1) throw new Error(`${key} was sent ${attempts} times`);
      if (status === 'completed' && attempts === 1) return { index, hash, status };
      if (status !== 'pending') throw new Error(`${key} is ${status} after ${attempts} attempts`);
      if (attempts === 0) pending += 1;
      if (pending === MOST_PENDING) return { index, hash, status };
    }
  }

  /** Makes an invoice, lets it be paid, and returns its index. */
  async #received(): Promise<string> {
    this.#invoices += 1;
    const { index } = await this.#untilDone('POST', '/v2/node/create_invoice', {
      body: { amount: '3', description: 'tea' },
      headers: { 'idempotency-key': `invoice-${this.#invoices}` },
    });
    this.#fake.paysInvoice(index.slice(index.indexOf('_') + 1));
    return index;
  }

  /** Pays once, without a key, and says what its caller was told. */
  async #unkeyed(): Promise<Unkeyed> {
    const { invoice, hash } = this.#bills.one();
    const answer = await this.#try(this.any(), 'POST', '/v2/node/pay_invoice', {
      body: { invoice },
    });
    const told =
      answer === null
        ? 'nothing'
        : answer.status === 200
          ? answer.body.status
          : `sent: ${answer.body.data?.sent}`;
    return { hash, told, code: answer?.body.code ?? null, index: answer?.body.index ?? null };
  }

  /** Resolves when a sidecar that a fault did not hit has answered a read. */
  async #answers(member: Member): Promise<void> {
    for (;;) {
      const answer = await this.#try(member, 'GET', '/v2/node/list_payments', {
        query: { filter: 'all', limit: '1' },
      });
      if (answer?.status === 200) return;
      await Bun.sleep(20);
    }
  }

  async #untilDone(
    method: string,
    path: string,
    options: { body: unknown; headers: Readonly<Record<string, string>> },
  ): Promise<Body> {
    for (;;) {
      const answer = await this.#try(this.any(), method, path, options);
      if (answer?.status === 200 || answer?.status === 202) return answer.body;
      if (answer !== null && ![503, 504].includes(answer.status)) {
        throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      this.#calledAgain += 1;
      await Bun.sleep(20);
    }
  }

  #try(
    { baseUrl }: Member,
    method: string,
    path: string,
    options: Parameters<typeof send>[3] = {},
  ): Promise<Answer | null> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const credentials = path.endsWith('pay_invoice') ? this.#credentials : undefined;
    const call = `${baseUrl} ${method} ${path} ${options.headers?.['idempotency-key'] ?? ''}`;
    this.#open.set(call, `asked at ${new Date().toISOString()}`);
    return send(baseUrl, method, path, { ...options, signal, credentials })
      .catch((error: unknown) => {
        this.#open.set(call, String(error));
        return null;
      })
      .then((answer) => {
        if (answer?.status === 200) this.#open.delete(call);
        else if (answer) this.#open.set(call, `${answer.status} ${JSON.stringify(answer.body)}`);
        return answer;
      });
  }
}

/** What the caller of a payment without a key was told. */
export interface Unkeyed {
  readonly hash: string;
  readonly told: string;
  readonly code: number | null;
  readonly index: string | null;
}
