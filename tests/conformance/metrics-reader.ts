import { type Family, parseExposition } from '../lib/exposition.ts';

/** What the metrics endpoint says, taken apart. */
export interface MetricsReader {
  scrape(): Promise<ReadonlyMap<string, Family>>;
  /** The series of one family, which must exist. */
  series(name: string): Promise<ReadonlyMap<string, number>>;
  /** One series, which must exist. */
  value(key: string): Promise<number>;
}

/** Reads the metrics of a sidecar that runs before the first reading. */
export function metricsReader(baseUrl: () => string): MetricsReader {
  const reader: MetricsReader = {
    scrape: async () => parseExposition(await (await fetch(`${baseUrl()}/metrics`)).text()),
    async series(name) {
      const family = (await reader.scrape()).get(name);
      if (!family) throw new Error(`${name} is missing`);
      return family.series;
    },
    async value(key) {
      const found = (await reader.series(key.replace(/\{.*/, ''))).get(key);
      if (found === undefined) throw new Error(`${key} is missing`);
      return found;
    },
  };
  return reader;
}
