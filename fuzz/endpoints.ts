import { residentMb } from '../bench/floors.ts';
import { diceOf } from './dice.ts';
import { operationFor, operationsOf } from './operations.ts';
import { judge } from './oracle.ts';
import { type FuzzRequest, fuzzRequest } from './requests.ts';
import { asksStrangers } from './strangers.ts';
import { Wire, type WireOutcome } from './wire.ts';
import { type FuzzWorld, openFuzzWorld } from './world.ts';

/** No answer takes longer than this, since waits have small limits and payments are not waited for. */
const LIMIT_MS = 30_000;
/** After this many different findings a run ends. */
const ENOUGH = 25;

/** A request whose answer broke a rule, with everything that is needed to send it again. */
export interface EndpointFinding {
  readonly round: number;
  readonly rule: string;
  readonly request: string;
  readonly answer: string;
}

/** The findings of a run. */
export interface EndpointReport {
  readonly findings: readonly EndpointFinding[];
  readonly requests: number;
  readonly perStatus: Readonly<Record<string, number>>;
  /** How many operations the document has. */
  readonly operations: number;
  /** Operations that were never answered with 2xx, or as a redirect. */
  readonly neverGood: readonly string[];
  readonly alive: boolean;
  /** The end of the log, and its lines of level error. */
  readonly logTail: string;
  readonly errors: readonly string[];
  /** Planted secrets that the log or a webhook showed. */
  readonly leaks: readonly string[];
  /** Resident memory in megabytes after each fifth of the requests; the first fifth is the warm-up. */
  readonly memoryMb: readonly number[];
}

interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
  readonly workers: number;
}

/**
 * Sends `requests` requests that are made from the binary's own OpenAPI document. Checks every answer against the
 * document and the error table, and that it holds no planted secret. The same seed gives the same choices; values of
 * the wallet itself, such as keys and hashes, differ from run to run.
 */
export async function fuzzEndpoints(options: FuzzOptions): Promise<EndpointReport> {
  const world = await openFuzzWorld();
  const run = new Run(world, options);
  try {
    await Promise.all(Array.from({ length: options.workers }, () => run.work()));
    await Bun.sleep(200);
    return run.report();
  } finally {
    await world.close();
  }
}

class Run {
  readonly #world: FuzzWorld;
  readonly #options: FuzzOptions;
  readonly #findings = new Map<string, EndpointFinding>();
  readonly #perStatus: Record<string, number> = {};
  readonly #good = new Set<string>();
  readonly #operations;
  #round = 0;
  readonly #memoryMb: number[] = [];

  constructor(world: FuzzWorld, options: FuzzOptions) {
    this.#world = world;
    this.#options = options;
    this.#operations = operationsOf(world.document);
  }

  async work(): Promise<void> {
    const wire = new Wire(this.#world.port);
    while (
      this.#round < this.#options.requests &&
      this.#findings.size < ENOUGH &&
      this.#world.alive()
    ) {
      const round = this.#round++;
      if (round > 0 && round % Math.ceil(this.#options.requests / 5) === 0) this.#measure();
      const request = this.#request(round);
      this.#judge(round, request, await wire.exchange(request, LIMIT_MS));
    }
    wire.close();
  }

  report(): EndpointReport {
    this.#measure();
    return {
      findings: [...this.#findings.values()],
      requests: this.#round,
      perStatus: this.#perStatus,
      operations: this.#operations.length,
      neverGood: this.#operations.map(nameOf).filter((name) => !this.#good.has(name)),
      alive: this.#world.alive(),
      logTail: this.#world.logTail(),
      errors: this.#world.errors(),
      leaks: this.#world.leaks(),
      memoryMb: this.#memoryMb,
    };
  }

  #measure(): void {
    this.#memoryMb.push(Math.round(residentMb(this.#world.pid)));
  }

  #request(round: number): FuzzRequest {
    const { pool, document, markers, credentials, port } = this.#world;
    const dice = diceOf(this.#options.seed, round);
    const secrets = markers.map(({ text }) => text);
    const sources = {
      dice,
      pool,
      document,
      secrets,
      credentials,
      operations: this.#operations,
      host: `127.0.0.1:${port}`,
    };
    for (;;) {
      const request = fuzzRequest(sources);
      if (!asksStrangers(request)) return request;
    }
  }

  #judge(round: number, request: FuzzRequest, outcome: WireOutcome): void {
    const status = outcome.kind === 'answer' ? String(outcome.status) : outcome.kind;
    this.#perStatus[status] = (this.#perStatus[status] ?? 0) + 1;
    const operation = operationFor(this.#operations, request.method, request.target);
    const rule = judge({ ...this.#world, operations: this.#operations }, request, outcome);
    if (rule !== null) {
      const key = `${rule} ${operation ? nameOf(operation) : request.method}`;
      if (!this.#findings.has(key))
        this.#findings.set(key, {
          round,
          rule,
          request: show(request),
          answer: showAnswer(outcome),
        });
    }
    if (outcome.kind !== 'answer' || outcome.status >= 400 || !operation) return;
    this.#good.add(nameOf(operation));
    if (
      outcome.headers.get('content-type')?.startsWith('application/json') &&
      outcome.body.length < 100_000 &&
      outcome.body.length > 0 &&
      rule === null
    ) {
      this.#world.pool.harvest(JSON.parse(outcome.body.toString()));
    }
  }
}

function nameOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

function show({ method, target, headers, body, chunked }: FuzzRequest): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const text = body === null ? '' : `\n\n${Buffer.from(body).toString('latin1')}`;
  return JSON.stringify(
    `${method} ${target}\n${lines.join('\n')}${chunked ? '\n(chunked)' : ''}${text}`.slice(0, 3000),
  );
}

function showAnswer(outcome: WireOutcome): string {
  return outcome.kind === 'answer'
    ? `${outcome.status} ${outcome.body.toString().slice(0, 1000)}`
    : outcome.kind;
}
