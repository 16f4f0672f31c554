import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Decimal } from '../model/prices/decimal.ts';
import { areTogether, medianOf } from '../model/prices/median.ts';
import type { Rate } from '../model/prices/price.ts';
import { readRate } from '../model/prices/rate-answer.ts';
import { forCurrency, type RateSource } from '../model/prices/rate-source.ts';
import type { FetchText } from './guarded-fetch.ts';
import { serviceFailed } from './service-error.ts';

/** What one bitcoin costs, as the sources of the configuration say (docs/decisions.md 197). */
export interface Rates {
  /**
   * The median of what the sources said in the last 5 minutes. Each is asked at most once a minute for a currency, and
   * only by this call. Throws error 113 where none has said anything, where one of several alone has, and where they
   * differ by more than 2 per cent.
   */
  of(currency: string): Promise<Rate>;
}

/** For how long a source is not asked again for a currency, whatever it answered. */
const ASKED_EVERY_MS = 60_000;
/** For how long what a source said counts. */
const FRESH_MS = 300_000;

interface RateParts {
  readonly sources: readonly RateSource[];
  readonly fetchText: FetchText;
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  readonly log: Pick<Log, 'warn'>;
}

interface Said {
  readonly value: Decimal;
  readonly atMs: number;
  readonly elapsedMs: number;
}

interface Known {
  askedMs: number;
  /** Ends when every source has answered or failed. */
  round: Promise<unknown>;
  readonly said: Map<RateSource, Said>;
}

/** Creates the rates. No timer runs: without a call nothing is asked. */
export function createRates(parts: RateParts): Rates {
  const { clock, elapsedMs, log } = parts;
  // What is named twice has one voice.
  const sources = [...new Map(parts.sources.map((one) => [JSON.stringify(one), one])).values()];
  const currencies = new Map<string, Known>();

  async function ask(source: RateSource, currency: string, said: Known['said']): Promise<void> {
    // What was answered late is as old as the question.
    const asked = { atMs: clock.now(), elapsedMs: elapsedMs() };
    try {
      const { url, pointers } = forCurrency(source, currency);
      const value = readRate(await parts.fetchText(url), pointers);
      if (value === null) throw unusable(`${source.name} gives no rate for ${currency}.`);
      said.set(source, { value, ...asked });
    } catch (error) {
      log.warn('A source of rates gave none.', { source: source.name, currency, error });
    }
  }

  function known(currency: string): Known {
    const before = currencies.get(currency);
    if (before && elapsedMs() - before.askedMs < ASKED_EVERY_MS) return before;
    const said: Known['said'] = before?.said ?? new Map();
    const round = Promise.all(sources.map((source) => ask(source, currency, said)));
    const next = { askedMs: elapsedMs(), round, said };
    currencies.set(currency, next);
    return next;
  }

  /** A clock that is set back, or a machine that slept, must not make what is old fresh: the greater age counts. */
  function isFresh({ atMs, elapsedMs: then }: Said): boolean {
    return Math.max(clock.now() - atMs, elapsedMs() - then) < FRESH_MS;
  }

  return {
    async of(currency) {
      const { round, said } = known(currency);
      await round;
      const fresh = sources.flatMap((source) => {
        const one = said.get(source);
        return one && isFresh(one) ? { ...one, name: source.name } : [];
      });
      const values = fresh.map(({ value }) => value);
      if (values.length === 0) {
        throw serviceFailed(
          'unreachable',
          `No source of rates has one for ${currency} now: try again in a minute, or give an amount in sats.`,
        );
      }
      if (values.length === 1 && sources.length > 1) {
        throw serviceFailed(
          'unreachable',
          `Only one source of rates has one for ${currency} now, and no other confirms it: try again in a minute, or give an amount in sats.`,
        );
      }
      if (!areTogether(values)) {
        throw unusable(
          `The sources of rates differ by more than 2 per cent for ${currency}: try again in a minute, or give an amount in sats.`,
        );
      }
      return {
        currency,
        rate: medianOf(values),
        rateAtMs: Math.min(...fresh.map(({ atMs }) => atMs)),
        rateSource: fresh.map(({ name }) => name).join(', '),
      };
    },
  };
}

function unusable(message: string) {
  return serviceFailed('unusable_answer', message);
}
