import { quantile, timed } from './compared.ts';
import { setting } from './settings.ts';

/** The first calls of a kind open connections and compile what is called often, so they are not counted. */
const WARM_UP = 50;

/** The median and the p99 of calls that are made one after another. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Measures a call that is made again and again, one after another. */
export async function latencyOf(run: () => Promise<unknown>): Promise<Latency> {
  const times: number[] = [];
  for (let at = 0; at < WARM_UP; at++) await run();
  while (times.length < setting('BENCH_CALLS')) times.push(await timed(run));
  return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

/** Returns a latency in words. */
export const inWords = ({ p50Ms, p99Ms }: Latency) =>
  `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
