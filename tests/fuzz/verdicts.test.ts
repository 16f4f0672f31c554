import { expect, setDefaultTimeout, test } from 'bun:test';
import { REASONS } from '../../fuzz/verdict-reasons.ts';
import { compareVerdicts } from '../../fuzz/verdicts.ts';
import { rounds } from '../support/rounds.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

test('the server rejects what the OpenAPI document refuses, and nothing else but for the reasons listed', async () => {
  const report = await compareVerdicts({ seed: 20_261_121, requests: rounds(900, 2500) });
  expect(report.findings).toEqual([]);
  // If all requests were valid, or all invalid, the test would find nothing.
  expect(report.refused).toBeGreaterThan(report.requests / 5);
  expect(report.refused).toBeLessThan((report.requests * 4) / 5);
  const known = new Set(REASONS.map(({ why }) => why));
  for (const reason of Object.keys(report.reasons)) expect(known).toContain(reason);
}, 300_000);
