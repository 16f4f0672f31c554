import { expect } from 'bun:test';
import { join } from 'node:path';
import { randomFrom } from '../support/random.ts';
import { CallFailed } from '../support/requests.ts';
import { rounds } from '../support/rounds.ts';
import { type Fault, type FaultyDisk, faultyDisk } from './faulty-disk.ts';
import { jumpingClock } from './jumping-clock.ts';
import type { Operation, Run } from './operations.ts';
import { EVERY, SEED } from './seed.ts';
import { Trial, WrongBudget } from './trial.ts';
import { eventually } from './truth.ts';

/** How many faults of each operation are tried where not every one is. */
const SAMPLE = rounds(1, 3);
/** The longest wait for the steps after a request's answer, such as those of a webhook. */
const SETTLED_MS = 10_000;
/** The time after which a request counts as stuck. Every answer comes sooner. */
const STUCK_MS = 60_000;
const OVER_CAPACITY = 8;
const SERVICE_FAILED = 113;

/** The results of the faults. Each problem names its operation and fault. */
export interface Figures {
  faults: number;
  repeats: number;
  /** Requests that did not end, or whose repeat failed. */
  readonly stuck: string[];
  readonly wrongBudgets: string[];
  /** Effects that happened twice or differ from the answer, and unexpected errors. */
  readonly wrongEffects: string[];
}

/** Runs operations on sidecars and causes faults in their writes. All files are in one folder. */
export class Injection {
  readonly trial: Trial;
  readonly figures: Figures = {
    faults: 0,
    repeats: 0,
    stuck: [],
    wrongBudgets: [],
    wrongEffects: [],
  };
  readonly #disk: FaultyDisk;
  readonly #random: () => number;
  #runs = 0;

  /** Returns null, and prints the reason, where faults cannot be caused. */
  static in(folder: string, salt: number): Injection | null {
    const disk = faultyDisk(folder, join(folder, 'data'));
    const clock = jumpingClock(folder);
    if (disk === null || clock === null) return null;
    const trial = new Trial({ dataDir: join(folder, 'data'), disk, clock });
    return new Injection(trial, disk, randomFrom(SEED + salt));
  }

  private constructor(trial: Trial, disk: FaultyDisk, random: () => number) {
    this.trial = trial;
    this.#disk = disk;
    this.#random = random;
  }

  /**
   * Runs the operation without a fault to count its steps, and then with a fault at every step or at some of them. It
   * does nothing after a problem, since what that has left behind makes every later operation wait.
   */
  async hit(operation: Operation, kinds: readonly Fault['kind'][]): Promise<void> {
    if (this.#hasProblem()) return;
    const steps = await this.#stepsOf(operation);
    expect(steps).toBeGreaterThan(0);
    const all = Array.from({ length: steps }, (_, at) => at + 1).flatMap((step) =>
      kinds.map((kind) => ({ kind, step })),
    );
    for (const fault of EVERY ? all : this.#drawn(all)) {
      if (!this.#hasProblem()) await this.#hitOnce(operation, fault);
    }
    if (EVERY)
      console.log(`${operation.name}: ${steps} steps, ${this.figures.faults} faults so far`);
  }

  #hasProblem(): boolean {
    const { stuck, wrongBudgets, wrongEffects } = this.figures;
    return stuck.length + wrongBudgets.length + wrongEffects.length > 0;
  }

  #drawn(faults: readonly Fault[]): Fault[] {
    const rest = [...faults];
    const drawn: Fault[] = [];
    while (drawn.length < SAMPLE && rest.length > 0) {
      drawn.push(...rest.splice(Math.floor(this.#random() * rest.length), 1));
    }
    return drawn;
  }

  async #stepsOf(operation: Operation): Promise<number> {
    const run = await this.#begin(operation);
    await this.#firstRequest(run, null);
    const steps = this.#disk.steps();
    this.#disk.disarm();
    await this.#repeat(run, operation.name);
    return steps;
  }

  async #hitOnce(operation: Operation, fault: Fault): Promise<void> {
    const label = `${operation.name}, ${fault.kind} at step ${fault.step}`;
    const run = await this.#begin(operation);
    const error = await this.#firstRequest(run, fault);
    // A run may have fewer steps than another, because writes at the same moment share a commit. Then the fault does
    // not happen.
    const fired = this.#disk.fired();
    this.#disk.disarm();
    if (fired) this.figures.faults++;
    const killed = fired && fault.kind.startsWith('kill');
    if (killed) await this.trial.restart();
    else if (error !== null && !isDue(error, operation)) {
      this.figures.wrongEffects.push(`${label}: ${text(error)}`);
    }
    await this.#repeat(run, label);
  }

  #begin(operation: Operation): Promise<Run> {
    return operation.begin(this.trial, `${SEED}-${operation.name}-${this.#runs++}`);
  }

  /**
   * Returns the error of the first request, null when it succeeded. When the process was killed, the error is that of
   * the connection.
   */
  async #firstRequest(run: Run, fault: Fault | null): Promise<unknown> {
    const { trial } = this;
    const before = trial.newestDelivery();
    this.#disk.arm(fault);
    const error = await bounded(run.request()).then(
      () => null,
      (reason) => reason,
    );
    const newest = before + (run.isNoticed ? 1 : 0);
    const isSettled = () =>
      this.#disk.fired() ||
      (trial.newestDelivery() >= newest && trial.pendingDeliveries(before) === 0);
    await eventually(isSettled, SETTLED_MS);
    return error;
  }

  async #repeat({ request, check }: Run, label: string): Promise<void> {
    let answer: unknown;
    try {
      answer = await bounded(request());
      this.figures.repeats++;
      expect(await bounded(request())).toEqual(answer);
      this.figures.repeats++;
    } catch (error) {
      this.figures.stuck.push(`${label}: ${text(error)}`);
      return;
    }
    try {
      await check(answer);
      await this.trial.expectOneTruth();
    } catch (error) {
      const { wrongBudgets, wrongEffects } = this.figures;
      const problems = error instanceof WrongBudget ? wrongBudgets : wrongEffects;
      problems.push(`${label}: ${text(error)}`);
    }
  }
}

async function bounded<T>(work: Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => limit.reject(new Error(`no answer within ${STUCK_MS} ms`)),
    STUCK_MS,
  );
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether this error may be the answer to a failed write. The sandbox's LNURL services write to the same disk. */
function isDue(error: unknown, { name }: Operation): boolean {
  if (!(error instanceof CallFailed)) return false;
  const { code } = error.body;
  return code === OVER_CAPACITY || (code === SERVICE_FAILED && name.includes('lnurl'));
}

function text(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 600) : `${error}`;
}
