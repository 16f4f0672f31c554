import type { PaymentJson } from '../../../src/model/payment.ts';
import { randomFrom } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import { eventually } from '../truth.ts';
import { expectOwnState, expectWorldAgrees } from './ending.ts';
import { type Act, KINDS, mayTryAgain } from './kinds.ts';
import { isEnded, LdkKillWorld, type Victim } from './world.ts';

/** The longest time after asking, milliseconds, after which something is killed at random; one of these is drawn. */
const RANDOM_MS = [12, 25, 120] as const;
/** How long a kill at a step waits for that step. */
const STEP_WITHIN_MS = 4_000;
/** How long the repeat of a request may be refused or unanswered before it counts as stuck. */
const ANSWERED_WITHIN_MS = 150_000;
/** How long everything may take to end: a payment of an offer waits for two minutes, and what was cut for one. */
const OVER_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 500;
/** After what a kill cut has been looked at, which takes a minute. */
const ENDS_ALONE_WITHIN_MS = 100_000;
const HANGING_BLOCKS = 6;
/** A block after so many rounds. */
const BLOCK_EVERY = 4;

/** Which kills a run makes. */
export interface RunOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Names of {@link KINDS}. */
  readonly kinds: readonly string[];
  /** After how many rounds everything is brought to its end and compared. */
  readonly batch: number;
  /** What is killed; each of the three by turns unless given. */
  readonly victim?: Victim | undefined;
  /** Kills at random times only, from the first to the second in milliseconds; else at steps too. */
  readonly betweenMs?: readonly [number, number] | undefined;
  readonly say: (line: string) => void;
  /** Is given the sidecar's whole log when there was a problem. */
  readonly keepLog: (log: string) => void;
}

/** What a run has counted. */
export interface Tally {
  kills: number;
  /** Kills by what was killed, and when. */
  readonly ways: Map<string, number>;
  /** What became of the acts, by kind. */
  readonly ends: Map<string, Map<string, number>>;
  readonly kindKills: Map<string, number>;
  /** Problems, in words. */
  readonly problems: string[];
  forced: readonly string[];
  /** What ended only once blocks ran out for a payment on its way, in words. */
  readonly hanging: string[];
  slowestBackMs: number;
}

interface Asked {
  readonly name: string;
  readonly act: Act;
}

/** Kills a sidecar and its node again and again, and compares what is left. */
export class KillRun {
  readonly tally: Tally = {
    kills: 0,
    ways: new Map(),
    ends: new Map(),
    kindKills: new Map(),
    problems: [],
    forced: [],
    hanging: [],
    slowestBackMs: 0,
  };
  readonly #options: RunOptions;
  readonly #random: () => number;
  readonly #world: LdkKillWorld;
  /** The step at which each kind is killed next. */
  readonly #steps = new Map<string, number>();
  #asked: Asked[] = [];
  #closed = 0;
  #payments: readonly PaymentJson[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
    this.#world = new LdkKillWorld(randomFrom(options.seed + 1));
  }

  /** Runs all rounds, or those until a channel is closed by force. Problems are in the tally. */
  async run(): Promise<Tally> {
    const { rounds, batch, say, keepLog } = this.#options;
    try {
      await this.#world.open();
      say('the world is open');
      for (let round = 1; round <= rounds && this.tally.problems.length === 0; round++) {
        await this.#round(round);
        // What comes next would need the channel.
        const isLast = round === rounds || this.#world.forced().size > 0;
        if (isLast || round % batch === 0) await this.#endAll(round);
        if (isLast) break;
      }
      if (this.tally.problems.length === 0) await this.#readOwnState();
    } catch (error) {
      this.#problem('the run', error);
    } finally {
      if (this.tally.problems.length > 0) keepLog(this.#world.sidecar?.log() ?? '');
      await this.#world.close();
    }
    return this.tally;
  }

  #problem(where: string, error: unknown): void {
    const text = error instanceof Error ? error.message : JSON.stringify(error);
    this.tally.problems.push(`${where}: ${text.slice(0, 2000)}`);
    this.#options.say(`PROBLEM in ${where}: ${text.slice(0, 2000)}`);
  }

  #oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  async #round(round: number): Promise<void> {
    const { seed, kinds } = this.#options;
    // The first by turns, at whose steps the kill is, and others beside it.
    const names = [kinds[round % kinds.length] as string, this.#oneOf(kinds)];
    if (this.#random() < 0.3) names.push(this.#oneOf(kinds));
    const asked = await Promise.all(
      names.map(async (name, at): Promise<Asked> => {
        const random = randomFrom(seed * 100_003 + round * 10 + at);
        const draw = { key: `${seed}-${round}-${at}`, random };
        return { name, act: (await KINDS[name]?.(this.#world, draw)) as Act };
      }),
    );
    const killed = await this.#killDuring(names[0] as string, asked);
    const backMs = await this.#world.back();
    this.tally.slowestBackMs = Math.max(this.tally.slowestBackMs, backMs);
    if (killed !== null) {
      this.tally.kills += 1;
      count(this.tally.ways, killed);
      for (const name of names) count(this.tally.kindKills, name);
    }
    await Promise.all(asked.map(({ name, act }) => this.#repeat(`${name} in round ${round}`, act)));
    this.#asked.push(...asked);
    await this.#goOn();
    // A peer allows few channels whose funding no block has.
    const opens = names.some((name) => name === 'open' || name === 'close');
    if (opens || round % BLOCK_EVERY === 0) await this.#world.mine(1);
    this.#options.say(
      `${round}: ${names.join(' and ')}: ${killed ?? 'not killed'}, back in ${backMs.toFixed(0)} ms`,
    );
  }

  /** Returns what was killed, and when; null where the step did not come. */
  async #killDuring(name: string, asked: readonly Asked[]): Promise<string | null> {
    const { betweenMs, victim } = this.#options;
    const { disk } = this.#world;
    const atStep = disk !== null && betweenMs === undefined && this.#random() < 0.5;
    const ask = () => Promise.all(asked.map(({ act }) => act.ask().catch(() => undefined)));
    if (atStep) {
      const next = this.#steps.get(name) ?? 1;
      const step = Math.ceil(next / 2);
      const kind = next % 2 === 1 ? 'kill before' : 'kill after';
      disk.arm({ kind, step });
      const asking = ask();
      await eventually(() => disk.fired(), STEP_WITHIN_MS);
      const fired = disk.fired();
      disk.disarm();
      this.#steps.set(name, fired ? next + 1 : 1);
      // The call that a dead helper leaves behind is answered; that of a dead sidecar fails.
      if (fired) await asking;
      return fired ? `${kind} a step` : null;
    }
    const [from, to] = betweenMs ?? [0, this.#oneOf(RANDOM_MS)];
    const killed = victim ?? this.#oneOf(['sidecar', 'helper', 'both'] as const);
    const asking = ask();
    await Bun.sleep(from + this.#random() * (to - from));
    await this.#world.kill(killed);
    await asking;
    return `${killed}, within ${to} ms`;
  }

  /** Asks again until it is answered. */
  async #repeat(where: string, { ask }: Act): Promise<void> {
    let last: unknown;
    const answered = async () => {
      try {
        await ask();
        return true;
      } catch (error) {
        last = error;
        if (!mayTryAgain(error)) throw error;
        await Bun.sleep(200);
        return false;
      }
    };
    try {
      await until(answered, 'the repeat is answered', ANSWERED_WITHIN_MS);
    } catch (error) {
      this.#problem(`${where}, stuck`, last ?? error);
    }
  }

  /** Has others do what they have to. Returns whether nothing is left for them. */
  async #goOn(): Promise<boolean> {
    const over = await Promise.all(
      this.#asked.map(async ({ act }) => (await act.goOn?.().catch(() => false)) ?? true),
    );
    return over.every(Boolean);
  }

  /** Brings everything to its end, without kills, and compares. */
  async #endAll(round: number): Promise<void> {
    const world = this.#world;
    const since = performance.now();
    await world.mine(1);
    await this.#over(60_000);
    await world.mine(6);
    await this.#over(OVER_WITHIN_MS);
    world.receiver.behave();
    for (const { name, act } of this.#asked) {
      try {
        const word = await act.became();
        const ends = this.tally.ends.get(name) ?? new Map<string, number>();
        this.tally.ends.set(name, ends);
        count(ends, word);
        if (word === 'closed') this.#closed += 1;
      } catch (error) {
        this.#problem(`${name} until round ${round}`, error);
      }
    }
    this.#asked = [];
    this.tally.forced = [...world.forced().values()];
    try {
      this.#payments = await expectWorldAgrees(world, this.#closed + world.forced().size);
    } catch (error) {
      this.#problem(`the comparison after round ${round}`, error);
    }
    const secs = ((performance.now() - since) / 1000).toFixed(0);
    this.#options.say(`after round ${round}: ${this.#payments.length} payments, ${secs} s`);
  }

  /** Waits until nothing is under way, at most for that time. */
  async #over(withinMs: number): Promise<void> {
    const since = performance.now();
    let isHanging = false;
    await eventually(async () => {
      if ((await this.#goOn()) && (await this.#pending()).length === 0) return true;
      if (!isHanging && performance.now() - since > ENDS_ALONE_WITHIN_MS) {
        isHanging = true;
        const hanging = await this.#pending();
        const told = await Promise.all(hanging.map((one) => this.#world.toldOf(one)));
        this.tally.hanging.push(...told);
        this.#options.say(`ends with blocks alone: ${told.join('; ')}`);
      }
      // What hangs in a channel, of the wallet or of those before it, comes back with blocks.
      if (isHanging) await this.#world.mine(HANGING_BLOCKS);
      else await Bun.sleep(LOOK_EVERY_MS);
      return false;
    }, withinMs);
  }

  async #pending(): Promise<readonly PaymentJson[]> {
    await this.#world.sidecar.put('/v2/node/sync_payments');
    const { payments } = await this.#world.sidecar.get('/v2/node/list_payments', {
      filter: 'pending',
    });
    return payments.filter((one: PaymentJson) => !isEnded(one));
  }

  async #readOwnState(): Promise<void> {
    try {
      await this.#world.sidecar.stop();
      expectOwnState(this.#world, this.#payments);
    } catch (error) {
      this.#problem("the node's own state", error);
    }
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
