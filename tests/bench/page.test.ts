import { expect, test } from 'bun:test';
import { pageOf } from '../../bench/page/page.ts';
import { newestOf, type PartResult } from '../../bench/results.ts';
import { isMet, wanted } from '../../bench/targets.ts';

const TEMPLATE = '# Page\n\n{{machine}}\n\n{{requests}}\n';
const quiet = { load: 0.3, busyPercent: 1 };

function resultOf(changes: Partial<PartResult> = {}): PartResult {
  return {
    part: 'requests',
    startedAt: '2026-11-22T10:00:00.000Z',
    endedAt: '2026-11-22T10:05:00.000Z',
    commit: 'abc',
    machine: '2 x Fast',
    bun: '1.2.3',
    before: quiet,
    after: { load: 1.5, busyPercent: 2 },
    differences: [],
    figures: [{ name: 'health', value: '10/s', beside: '0.8 of 12/s, a bare server' }],
    pictures: [],
    ...changes,
  };
}

test('a part says when, where and under which load it was measured', () => {
  const page = pageOf(TEMPLATE, [resultOf()]);
  expect(page).toContain('Measured on 2026-11-22 on 2 x Fast with Bun 1.2.3.');
  expect(page).toContain(
    '2026-11-22, 10:00 to 10:05 UTC, commit abc; load average 0.3 before and 1.5 after; other programs used 1 % of the processors before and 2 % after.',
  );
  expect(page).not.toContain('busy with other work');
  expect(page).toContain('| health | 10/s | 0.8 of 12/s, a bare server |  |  |');
});

test('a busy machine and a shorter run are said', () => {
  const page = pageOf(TEMPLATE, [
    resultOf({ after: { load: 9, busyPercent: 70 }, differences: ['BENCH_MS=300'] }),
  ]);
  expect(page).toContain('**The machine was busy with other work');
  expect(page).toContain('**Not a whole run**: `BENCH_MS=300`.');
});

test('a missed target stands with its reason', () => {
  const page = pageOf(TEMPLATE, [
    resultOf({
      figures: [
        { name: 'start', value: '90 ms', goal: { target: 'start', is: 90 } },
        { name: 'idle', value: '70 MB', goal: { target: 'idleMemory', is: 70 } },
      ],
    }),
  ]);
  expect(page).toContain('| start | 90 ms |  | at most 80 ms | **missed** |');
  expect(page).toContain('| idle | 70 MB |  | at most 75 MB | met |');
  expect(page).toMatch(/^- Missed: \*\*start\*\*\. Most of it is loading/m);
});

test('a missed target without a reason cannot be written', () => {
  const figure = { name: 'errors', value: '1', goal: { target: 'undocumented', is: 1 } } as const;
  expect(() => pageOf(TEMPLATE, [resultOf({ figures: [figure] })])).toThrow(
    '"errors" is missed and undocumented has no reason: write one in bench/targets.ts.',
  );
});

test('every part of the template must be measured, and every measured one must have its place', () => {
  expect(() => pageOf(TEMPLATE, [])).toThrow('run npm run bench -- --only requests');
  expect(() => pageOf('{{machine}}\n', [resultOf()])).toThrow('no place for the parts requests');
});

test('of each part the newest result counts', () => {
  const older = resultOf({ startedAt: '2026-11-22T09:00:00.000Z', commit: 'old' });
  const lnd = resultOf({ part: 'lnd', startedAt: '2026-11-22T08:00:00.000Z' });
  expect(newestOf([resultOf(), older, lnd])).toEqual([lnd, resultOf()]);
});

test('a part of another machine or another day says that its figures stand alone', () => {
  const template = `${TEMPLATE}\n{{lnd}}\n`;
  const pageWith = (changes: Partial<PartResult>) =>
    pageOf(template, [resultOf(), resultOf({ part: 'lnd', ...changes })]);
  expect(pageWith({})).not.toContain('apart');
  expect(pageWith({ startedAt: '2026-11-23T09:00:00.000Z' })).not.toContain('apart');
  const apart = (where: string) =>
    `**Measured apart from the other parts**, on ${where}: its figures are compared with each other alone.`;
  expect(pageWith({ machine: '8 x Slow' })).toContain(apart('8 x Slow with Bun 1.2.3'));
  expect(pageWith({ bun: '9.0.0' })).toContain(apart('2 x Fast with Bun 9.0.0'));
  const later = pageWith({ startedAt: '2026-11-28T10:00:00.000Z' });
  expect(later).toContain(apart('2 x Fast with Bun 1.2.3'));
  expect(later).toContain('Measured on 2026-11-22 on 2 x Fast with Bun 1.2.3.');
});

test('a target is met at its limit', () => {
  expect(isMet({ most: 80, unit: ' ms', why: null }, 80)).toBe(true);
  expect(isMet({ most: 80, unit: ' ms', why: null }, 80.1)).toBe(false);
  expect(isMet({ least: 0.7, unit: '', why: null }, 0.69)).toBe(false);
  expect(isMet({ most: 80, unit: ' ms', why: null }, Number.NaN)).toBe(false);
  expect(wanted({ most: 80, unit: ' ms', why: null })).toBe('at most 80 ms');
  expect(wanted({ least: 0.7, unit: '', why: null })).toBe('at least 0.7');
  expect(wanted({ most: 0, unit: '', why: null })).toBe('none');
});
