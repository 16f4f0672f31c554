import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { encodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { CERT, KEY } from '../../support/raw-server.ts';

type Params = Record<string, unknown>;
type Row = Record<string, unknown>;
type Order = 'created' | 'updated' | 'deleted';

type SetAnswer = (params: Params) => Response | Promise<Response | null> | null;

/** A request that the server received. */
export interface Asked {
  readonly method: string;
  readonly params: Params;
}

/** An error in the form of clnrest. */
export const refusal = (code: number | null, message: string, status = 500) =>
  Response.json({ code, message, data: null }, { status });

/** The time at the fake node, in seconds. */
export const NODE_SECS = 1_800_000_000;

/** The key of the fake node, with which it signs its invoices. */
const NODE_KEY = new Uint8Array(32).fill(7);

/** The text of an invoice of the fake node, or of whose key it is. */
export function bolt11Of(
  paymentHash: string,
  amountMsat: bigint | null,
  terms: { description?: string; descriptionHash?: string; expirySecs: number } = {
    description: 'tea',
    expirySecs: 3600,
  },
  { timestampSecs = NODE_SECS, key = NODE_KEY } = {},
): string {
  const made = {
    network: 'regtest' as const,
    timestampSecs,
    paymentSecret: '11'.repeat(32),
  };
  return encodeBolt11({ ...made, ...terms, paymentHash, amountMsat }, key);
}

/** A list with the numbers that Core Lightning gives its rows, and those who wait for them. */
class NumberedRows {
  rows: Row[] = [];
  readonly numbers: Record<Order, number> = { created: 0, updated: 0, deleted: 0 };
  waiting: { readonly order: Order; readonly from: number; readonly tell: () => void }[] = [];

  add(row: Row): Row {
    this.numbers.created += 1;
    const added = { ...row, created_index: this.numbers.created };
    this.rows.push(added);
    this.#tell();
    return added;
  }

  change(row: Row, change: Row): void {
    this.numbers.updated += 1;
    Object.assign(row, change, { updated_index: this.numbers.updated });
    this.#tell();
  }

  remove(row: Row): void {
    this.numbers.deleted += 1;
    this.rows = this.rows.filter((one) => one !== row);
    this.#tell();
  }

  page({ index, start, limit }: Params): Row[] {
    const number = `${index}_index`;
    return this.rows
      .filter((row) => Number(row[number] ?? 0) >= Number(start))
      .toSorted((a, b) => Number(a[number]) - Number(b[number]))
      .slice(0, Number(limit));
  }

  #tell(): void {
    for (const waiter of [...this.waiting]) {
      if (this.numbers[waiter.order] < waiter.from) continue;
      this.waiting = this.waiting.filter((one) => one !== waiter);
      waiter.tell();
    }
  }
}

/** An HTTPS server that speaks as clnrest does, over lists in memory. It proves nothing about Core Lightning itself. */
export class FakeCln {
  readonly cert = CERT;
  readonly asked: Asked[] = [];
  readonly invoices = new NumberedRows();
  readonly sendpays = new NumberedRows();
  /** Nothing ever happens on chain here. */
  readonly chainmoves = new NumberedRows();
  #answers = new Map<string, SetAnswer>();
  #accepts: (rune: string, method: string) => boolean | Response = () => true;
  readonly #clock: (() => number) | null;
  readonly #port: number;
  #server: Bun.Server<undefined>;

  /**
   * `nowSecs` is the node's clock, which also stands in its answers; it stands still at {@link NODE_SECS} if absent. A
   * node that is to be {@link away} needs a port that no outgoing connection of others is given meanwhile.
   */
  constructor(nowSecs?: () => number, port = 0) {
    this.#clock = nowSecs ?? null;
    this.#server = this.#serve(port);
    this.#port = this.#server.port ?? 0;
  }

  #serve(port: number): Bun.Server<undefined> {
    return Bun.serve({
      port,
      hostname: '127.0.0.1',
      tls: { cert: CERT, key: KEY },
      idleTimeout: 0,
      fetch: async (request) => {
        const method = new URL(request.url).pathname.slice('/v1/'.length);
        const params = (await request.json()) as Params;
        this.asked.push({ method, params });
        const accepted = this.#accepts(request.headers.get('rune') ?? '', method);
        if (accepted instanceof Response) return accepted;
        if (!accepted) return refusal(1503, 'Not authorized: Blacklisted rune', 401);
        const set = await this.#answers.get(method)?.(params);
        const answer = await (set ?? this.#answer(method, params));
        if (this.#clock) answer.headers.set('date', new Date(this.#clock() * 1000).toUTCString());
        return answer;
      },
    });
  }

  /** The time at the node, in seconds. */
  nowSecs(): number {
    return this.#clock?.() ?? NODE_SECS;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#server.port}`;
  }

  /** Sets what a method answers; null leaves the answer to the lists. */
  on(method: string, answer: SetAnswer): void {
    this.#answers.set(method, answer);
  }

  /** Forgets what {@link on} set. */
  off(method: string): void {
    this.#answers.delete(method);
  }

  /** Sets which runes are not blacklisted; or the answer to a call that is not accepted. */
  accept(accepts: (rune: string, method: string) => boolean | Response): void {
    this.#accepts = accepts;
  }

  /** The parameters of all requests for a method. */
  of(method: string): Params[] {
    return this.asked.filter((one) => one.method === method).map(({ params }) => params);
  }

  /** Ends all requests that are waiting, without an answer. */
  cutWaits(): void {
    for (const list of [this.invoices, this.sendpays, this.chainmoves]) {
      const cut = list.waiting;
      list.waiting = [];
      for (const { tell } of cut) tell();
    }
  }

  /** Breaks every connection, and takes none before it is {@link back}. */
  async away(): Promise<void> {
    await this.#server.stop(true);
  }

  /** Listens again where it did. */
  async back(): Promise<void> {
    this.#server = this.#serve(this.#port);
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  /** An invoice that is made without the sidecar, unless a label is given. */
  addInvoice(change: Params = {}): Row {
    const preimage = hex.encode(crypto.getRandomValues(new Uint8Array(32)));
    const order = { amount_msat: '1000msat', description: 'tea', expiry: 3600, preimage };
    return this.#invoice({ ...order, label: `label ${preimage}`, ...change });
  }

  /** Lets an invoice be paid. */
  pay(hash: string): void {
    const row = this.#invoiceOf(hash);
    this.invoices.change(row, {
      status: 'paid',
      amount_received_msat: row.amount_msat,
      paid_at: this.nowSecs(),
      payment_preimage: this.#preimages.get(hash),
    });
  }

  /** Lets an invoice expire. */
  expire(hash: string): void {
    this.invoices.change(this.#invoiceOf(hash), { status: 'expired' });
  }

  /** Deletes an invoice, as another program would. */
  deleteInvoice(hash: string): void {
    this.invoices.remove(this.#invoiceOf(hash));
  }

  /** Adds a part of an outgoing payment. */
  addPart(change: Row): Row {
    return this.sendpays.add({
      groupid: 1,
      partid: 1,
      status: 'pending',
      created_at: this.nowSecs(),
      amount_msat: 1000,
      amount_sent_msat: 1001,
      bolt11: 'lnbcrt1',
      ...change,
    });
  }

  /** Ends a part of an outgoing payment. */
  endPart(part: Row, change: Row): void {
    this.sendpays.change(part, { completed_at: this.nowSecs(), ...change });
  }

  readonly #preimages = new Map<string, string>();

  #invoiceOf(hash: string): Row {
    const row = this.invoices.rows.find((one) => one.payment_hash === hash);
    if (row === undefined) throw new Error(`no invoice of ${hash}`);
    return row;
  }

  #invoice({ amount_msat, label, description, expiry, preimage, deschashonly }: Params): Row {
    const hash = hex.encode(sha256(hex.decode(String(preimage))));
    this.#preimages.set(hash, String(preimage));
    const amount = amount_msat === 'any' ? null : String(amount_msat).replace('msat', '');
    const text = String(description);
    const described = deschashonly
      ? { descriptionHash: hex.encode(sha256(utf8ToBytes(text))) }
      : { description: text };
    const terms = { ...described, expirySecs: Number(expiry) };
    const amountMsat = amount === null ? null : BigInt(amount);
    const bolt11 = bolt11Of(hash, amountMsat, terms, { timestampSecs: this.nowSecs() });
    return this.invoices.add({
      label,
      bolt11,
      payment_hash: hash,
      status: 'unpaid',
      description,
      // The node counts from a moment later.
      expires_at: this.nowSecs() + Number(expiry) + 1,
      ...(amount === null ? {} : { amount_msat: Number(amount) }),
    });
  }

  #answer(method: string, params: Params): Response | Promise<Response> {
    const ok = (body: unknown) => Response.json(body, { status: 201 });
    switch (method) {
      case 'invoice': {
        const { label, preimage } = params;
        const hash = hex.encode(sha256(hex.decode(String(preimage))));
        // The order of `invoice_complete` in lightningd/invoice.c.
        if (this.invoices.rows.some((row) => row.payment_hash === hash)) {
          return refusal(901, 'preimage already used');
        }
        if (this.invoices.rows.some((row) => row.label === label)) {
          return refusal(900, `Duplicate label '${label}'`);
        }
        return ok({ ...this.#invoice(params), payment_secret: '11'.repeat(32) });
      }
      case 'delinvoice': {
        const row = this.invoices.rows.find((one) => one.label === params.label);
        if (row === undefined) return refusal(905, 'Unknown invoice');
        if (row.status !== params.status) {
          return refusal(906, `Invoice status is ${row.status} not ${params.status}`);
        }
        this.invoices.remove(row);
        return ok(row);
      }
      case 'listinvoices':
        return ok({ invoices: this.#listed(this.invoices, params) });
      case 'listsendpays':
        return ok({ payments: this.#listed(this.sendpays, params) });
      case 'listchainmoves':
        return ok({ chainmoves: this.#listed(this.chainmoves, params) });
      case 'wait':
        return this.#wait(params);
      default:
        return refusal(-32601, `Unknown command '${method}'`, 404);
    }
  }

  #listed(list: NumberedRows, params: Params): Row[] {
    if (params.index !== undefined) return list.page(params);
    return list.rows.filter((row) => row.payment_hash === params.payment_hash);
  }

  #wait({ subsystem, indexname, nextvalue }: Params): Response | Promise<Response> {
    const list = this[subsystem as 'invoices' | 'sendpays' | 'chainmoves'];
    const order = indexname as Order;
    const answer = () =>
      list.numbers[order] >= Number(nextvalue)
        ? Response.json({ subsystem, [order]: list.numbers[order] }, { status: 201 })
        : new Response('<html>Gateway Timeout</html>', { status: 504 });
    if (list.numbers[order] >= Number(nextvalue)) return answer();
    return new Promise((resolve) => {
      list.waiting.push({ order, from: Number(nextvalue), tell: () => resolve(answer()) });
    });
  }
}
