import { ERRORS } from '../src/model/errors.ts';
import { converse, type LoadRequest } from './load.ts';
import { TERMS } from './sandbox.ts';

/** The number of callers at the same time, each on a keep-alive connection of its own. */
const CONNECTIONS = 200;

/** The parts that the mixed load works with. */
export interface MixedWorld {
  readonly port: number;
  /** Credentials of the wallet that pays. The default wallet receives. */
  readonly payer: string;
  /** An offer for `analyze`, and the index of a finished payment to read. */
  readonly offer: string;
  readonly index: string;
}

/** The result of a mixed load. */
export interface MixedResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The number of answers that the documentation does not name, and the first of them in words. */
  readonly undocumented: number;
  readonly examples: readonly string[];
  /** The number of error answers, documented or not. */
  readonly errors: number;
  /** The number of invoices that were paid, and of those that the open event streams reported as completed. */
  readonly paid: number;
  readonly streamed: number;
}

type Step = (answer: string) => LoadRequest;

/**
 * Puts two wallets under the load of an ordinary application: reads, calls of analyze, and payments that are created,
 * paid and waited for, with open event streams. With `perSecond` requests start at fixed times, and a latency counts
 * from the time at which the request was due. Otherwise each connection sends its next request when it has an answer.
 */
export async function mixedLoad(
  world: MixedWorld,
  { requests, perSecond }: { readonly requests: number; readonly perSecond: number | null },
): Promise<MixedResult> {
  const run = new MixedRun(world, requests, perSecond);
  const streams = [openStream(world.port, run), openStream(world.port, run)];
  await Promise.all(streams.map(({ opened }) => opened));
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => run.caller(at, startedAt)));
  const seconds = (performance.now() - startedAt) / 1000;
  for (let round = 0; round < 100 && !run.allStreamed(); round++) await Bun.sleep(20);
  for (const { close } of streams) close();
  return run.result(seconds);
}

class MixedRun {
  readonly #world: MixedWorld;
  readonly #requests: number;
  readonly #perSecond: number | null;
  readonly #latencies: number[] = [];
  readonly #paid = new Set<string>();
  readonly #streamed = new Set<string>();
  readonly #examples: string[] = [];
  #sent = 0;
  #errors = 0;
  #undocumented = 0;

  constructor(world: MixedWorld, requests: number, perSecond: number | null) {
    this.#world = world;
    this.#requests = requests;
    this.#perSecond = perSecond;
  }

  caller(at: number, startedAt: number): Promise<void> {
    const round = this.#round();
    // A caller must not start in the middle of a payment.
    let position = at % (round.length - 2);
    let answer = '{}';
    let dueAt = 0;
    return converse(this.#world.port, {
      next: () => {
        if (this.#sent >= this.#requests) return null;
        const turn = this.#sent++;
        const step = round[position++ % round.length] ?? health;
        if (this.#perSecond === null) {
          dueAt = performance.now();
          return step(answer);
        }
        dueAt = startedAt + (turn * 1000) / this.#perSecond;
        const early = dueAt - performance.now();
        return early <= 0 ? step(answer) : Bun.sleep(early).then(() => step(answer));
      },
      answered: ({ status, text }) => {
        this.#latencies.push(performance.now() - dueAt);
        answer = text;
        if (status >= 300) this.#note(status, text);
      },
    });
  }

  seen(index: string): void {
    this.#streamed.add(index);
  }

  allStreamed(): boolean {
    return [...this.#paid].every((index) => this.#streamed.has(index));
  }

  result(seconds: number): MixedResult {
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
    return {
      requests: sorted.length,
      perSecond: sorted.length / seconds,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      undocumented: this.#undocumented,
      examples: this.#examples,
      errors: this.#errors,
      paid: this.#paid.size,
      streamed: [...this.#paid].filter((index) => this.#streamed.has(index)).length,
    };
  }

  /** Returns twenty requests of one caller. The last three are one payment, from its invoice to its end. */
  #round(): readonly Step[] {
    const { payer, offer, index } = this.#world;
    const info = get('/v2/node/node_info');
    const payment = get(`/v2/node/payment?index=${index}`);
    const list = get('/v2/node/list_payments?filter=all&limit=20');
    const analyze = get(`/v2/node/analyze?payment_string=${encodeURIComponent(offer)}`);
    const create: Step = () => ({
      method: 'POST',
      path: '/v2/node/create_invoice',
      body: JSON.stringify(TERMS),
    });
    let made = '';
    const pay: Step = (answer) => {
      const { invoice, index: created } = JSON.parse(answer) as {
        invoice?: string;
        index?: string;
      };
      made = created ?? '';
      return {
        method: 'POST',
        path: '/v2/node/pay_invoice',
        headers: { authorization: `Bearer ${payer}` },
        body: JSON.stringify({ invoice }),
      };
    };
    const wait: Step = (answer) => {
      if ((JSON.parse(answer) as { status?: string }).status === 'completed') this.#paid.add(made);
      return { path: `/v2/node/wait_for_payment?index=${made}&timeout_secs=30` };
    };
    const reads = [
      info,
      payment,
      list,
      analyze,
      health,
      info,
      payment,
      list,
      analyze,
      health,
      info,
      payment,
      list,
      analyze,
      info,
      payment,
      payment,
    ];
    return [...reads, create, pay, wait];
  }

  #note(status: number, text: string): void {
    this.#errors++;
    const { code } = JSON.parse(text) as { code?: number };
    const row = Object.values(ERRORS).find((one) => one.code === code && one.httpStatus === status);
    if (row && code !== ERRORS.internal.code) return;
    this.#undocumented++;
    if (this.#examples.length < 5) this.#examples.push(`${status} ${text.slice(0, 200)}`);
  }
}

const get =
  (path: string): Step =>
  () => ({ path });
const health = get('/v2/health');

/** Opens and reads the event stream of the default wallet. */
function openStream(
  port: number,
  run: MixedRun,
): { readonly opened: Promise<unknown>; readonly close: () => void } {
  const gone = new AbortController();
  const response = fetch(`http://127.0.0.1:${port}/v2/node/events`, { signal: gone.signal });
  const read = async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of (await response).body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        const { index, status } = JSON.parse(data ?? '{}') as { index?: string; status?: string };
        if (index !== undefined && status === 'completed') run.seen(index);
      }
    }
  };
  read().catch((error: unknown) => {
    if (!gone.signal.aborted) throw error;
  });
  return { opened: response, close: () => gone.abort() };
}
