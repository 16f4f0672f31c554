import { type Family, parseExposition } from './exposition.ts';

/** Reads the answer of the metrics endpoint. */
export interface MetricsReader {
  scrape(): Promise<ReadonlyMap<string, Family>>;
  /** Resolves to the series of one family. Throws when there is none. */
  series(name: string): Promise<ReadonlyMap<string, number>>;
  /** Resolves to the value of one series. Throws when there is none. */
  value(key: string): Promise<number>;
}

/** Returns a reader of a sidecar's metrics. The sidecar must run before the first reading. */
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
