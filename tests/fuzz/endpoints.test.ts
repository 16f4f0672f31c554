import { expect, setDefaultTimeout, test } from 'bun:test';
import { fuzzEndpoints } from '../../fuzz/endpoints.ts';
import { rounds } from '../support/rounds.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const REQUESTS = rounds(3000, 8000);
/** Memory that may be taken after the warm-up: caches fill, pages of the databases stay. */
const MOST_GROWTH_MB = 150;

test('no request gets an undocumented answer, stops the sidecar, or makes it show a secret', async () => {
  const report = await fuzzEndpoints({ seed: 20_260_921, requests: REQUESTS, workers: 4 });
  const { memoryMb } = report;
  console.log(`memory after each fifth: ${memoryMb.join(', ')} MB`);
  expect(report.findings).toEqual([]);
  expect(report.leaks).toEqual([]);
  expect(report.alive).toBe(true);
  expect(report.requests).toBe(REQUESTS);
  // If every request were rejected by the first check, the test would find nothing. A third of the requests are good,
  // and which endpoints have none of them is chance: the limits are so far from what is usual that chance never reaches
  // them.
  expect(report.perStatus['200']).toBeGreaterThan(REQUESTS / 5);
  expect(report.neverGood.length).toBeLessThan(report.operations / 3);
  expect(Math.max(...memoryMb) - (memoryMb[0] ?? 0)).toBeLessThan(MOST_GROWTH_MB);
}, 300_000);
