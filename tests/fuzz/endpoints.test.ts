import { expect, test } from 'bun:test';
import { fuzzEndpoints } from './endpoints.ts';

/** Memory that may be taken after the warm-up: caches fill, SQLite pages stay. */
const MOST_GROWTH_MB = 100;

test('no request gets an undocumented answer, stops the sidecar, or makes it show a secret', async () => {
  const report = await fuzzEndpoints({
    seed: 20_260_921,
    requests: 3000,
    warmUp: 1000,
    workers: 4,
  });
  const { warmMb, endMb } = report;
  console.log(
    `memory ${warmMb.toFixed(0)} MB after 1000 requests, ${endMb.toFixed(0)} MB at the end`,
  );
  expect(report.findings).toEqual([]);
  expect(report.leaks).toEqual([]);
  expect(report.alive).toBe(true);
  expect(report.requests).toBe(3000);
  expect(endMb - warmMb).toBeLessThan(MOST_GROWTH_MB);
}, 300_000);
