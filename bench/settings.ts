/** The sizes of a whole run. An environment variable of the same name sets another, for a shorter one. */
const WHOLE = {
  /** Milliseconds for which a rate is measured. */
  BENCH_MS: 2_000,
  /** Payments in the large cache. */
  BENCH_ROWS: 1_000_000,
  /** Requests of the mixed load, and of the reads over which the memory must not grow. */
  BENCH_MIXED: 200_000,
  BENCH_READS: 1_000_000,
  /** Requests that are made one after another for a latency. */
  BENCH_CALLS: 200,
  /** The most payments in the picture of growth. */
  BENCH_GROWTH: 1_000_000,
  /** Payments on the node that both stores follow. */
  BENCH_STORED: 10_000,
  BENCH_SOAK_MINUTES: 30,
  /** Rounds of a comparison with a real node, in percent of the whole number. */
  BENCH_NODE_PERCENT: 100,
};

/** The name of a size. */
type Setting = keyof typeof WHOLE;

/** Returns a size of this run. Throws Error if the environment says something else than a number above 0. */
export function setting(name: Setting): number {
  const size = Number(process.env[name] ?? WHOLE[name]);
  if (!(size > 0)) throw new Error(`${name} is no number above 0: give it another value.`);
  return size;
}

/** Returns the sizes in which this run differs from a whole one, such as `BENCH_ROWS=20000`. */
export function differences(): string[] {
  return (Object.keys(WHOLE) as Setting[])
    .filter((name) => setting(name) !== WHOLE[name])
    .map((name) => `${name}=${setting(name)}`);
}
