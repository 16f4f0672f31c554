import { describe, expect, test } from 'bun:test';
import { openMetrics } from '../../src/lib/metrics.ts';
import { processMetrics } from '../../src/lib/process-metrics.ts';
import { parseExposition } from '../support/exposition.ts';
import { throwing } from '../support/rejection.ts';

describe('a family', () => {
  test('is one HELP line, one TYPE line and its series, each on a line of its own', async () => {
    const metrics = openMetrics();
    const sent = metrics.counter({ name: 'sent_total', help: 'What was sent.', labels: ['to'] });
    sent({ to: 'a' }).inc();
    sent({ to: 'b' }).inc(2.5);
    expect(await metrics.render()).toBe(
      '# HELP sent_total What was sent.\n# TYPE sent_total counter\nsent_total{to="a"} 1\nsent_total{to="b"} 2.5\n',
    );
  });

  test('without labels has one series without braces', async () => {
    const metrics = openMetrics();
    metrics.counter({ name: 'sent_total', help: 'Sent.' })({}).inc();
    expect(await metrics.render()).toEndWith('\nsent_total 1\n');
  });

  test('comes in the order in which it was registered, with its lines even while it has no series', async () => {
    const metrics = openMetrics();
    metrics.counter({ name: 'b_total', help: 'B.', labels: ['x'] });
    metrics.gauge({ name: 'a', help: 'A.' }, async () => []);
    expect(await metrics.render()).toBe(
      '# HELP b_total B.\n# TYPE b_total counter\n# HELP a A.\n# TYPE a gauge\n',
    );
  });

  test('has its labels in its own order, whatever the order they are given in', async () => {
    const metrics = openMetrics();
    const sent = metrics.counter({ name: 'sent_total', help: 'Sent.', labels: ['a', 'b'] });
    sent({ b: '2', a: '1' }).inc();
    sent({ a: '1', b: '2' }).inc();
    expect(await metrics.render()).toEndWith('\nsent_total{a="1",b="2"} 2\n');
  });

  test('escapes backslash, quote and line end in label values, backslash and line end in the help', async () => {
    const metrics = openMetrics();
    const sent = metrics.counter({ name: 'sent_total', help: 'a\\b\n"c"', labels: ['to'] });
    sent({ to: 'a\\b\n"c"} 9' }).inc();
    const text = await metrics.render();
    expect(text).toBe(
      '# HELP sent_total a\\\\b\\n"c"\n# TYPE sent_total counter\nsent_total{to="a\\\\b\\n\\"c\\"} 9"} 1\n',
    );
    expect([...(parseExposition(text).get('sent_total')?.labelValues ?? [])]).toEqual([
      'a\\b\n"c"} 9',
    ]);
  });

  test('is refused when its name or a label is malformed, reserved or taken', () => {
    const metrics = openMetrics();
    const register = (name: string, ...labels: string[]) =>
      metrics.counter({ name, help: 'x', labels });
    register('sent_total');
    expect(() => register('sent_total')).toThrow('The metric sent_total is registered already.');
    for (const name of ['', '1a', 'a-b', 'a b', 'a\n']) {
      expect(() => register(name)).toThrow('cannot name a metric or a label');
    }
    for (const label of ['le', '__name', 'a:b', 'a-b', '']) {
      expect(() => register('other_total', label)).toThrow('cannot name a metric or a label');
    }
  });

  test('is refused with other labels than its own', () => {
    const sent = openMetrics().counter({ name: 'sent_total', help: 'x', labels: ['to'] });
    const other = sent as (values: Record<string, string>) => unknown;
    expect(() => other({})).toThrow('sent_total has the labels [to], not [].');
    expect(() => other({ from: 'a' })).toThrow('sent_total has the labels [to], not [from].');
    expect(() => other({ to: 'a', from: 'a' })).toThrow('not [to, from].');
  });
});

describe('a counter', () => {
  test('is the same for the same label values', () => {
    const sent = openMetrics().counter({ name: 'sent_total', help: 'x', labels: ['to'] });
    expect(sent({ to: 'a' })).toBe(sent({ to: 'a' }));
    expect(sent({ to: 'a' })).not.toBe(sent({ to: 'b' }));
  });

  test('shows zero before anything is counted, and never goes down', async () => {
    const metrics = openMetrics();
    const sent = metrics.counter({ name: 'sent_total', help: 'x' })({});
    for (const by of [-1, Number.NaN]) {
      expect(() => sent.inc(by)).toThrow(`sent_total cannot go up by ${by}.`);
    }
    expect(await metrics.render()).toEndWith('\nsent_total 0\n');
  });
});

describe('a gauge', () => {
  test('is read whenever the metrics are, also from where it takes time', async () => {
    const metrics = openMetrics();
    let value = 1;
    metrics.gauge({ name: 'now', help: 'x', labels: ['of'] }, async () => [
      { labels: { of: 'a' }, value: value++ },
    ]);
    expect(await metrics.render()).toEndWith('\nnow{of="a"} 1\n');
    expect(await metrics.render()).toEndWith('\nnow{of="a"} 2\n');
  });

  test('shows infinities and what is no number as the format spells them', async () => {
    const metrics = openMetrics();
    const values = [Infinity, -Infinity, Number.NaN, -0.5, 1e21];
    metrics.gauge({ name: 'odd', help: 'x', labels: ['n'] }, async () =>
      values.map((value, n) => ({ labels: { n: `${n}` }, value })),
    );
    expect((await metrics.render()).split('\n').slice(2, -1)).toEqual([
      'odd{n="0"} +Inf',
      'odd{n="1"} -Inf',
      'odd{n="2"} NaN',
      'odd{n="3"} -0.5',
      'odd{n="4"} 1e+21',
    ]);
  });

  test('that cannot be read fails the whole answer rather than showing a part', async () => {
    const metrics = openMetrics();
    metrics.gauge({ name: 'broken', help: 'x' }, () => {
      throw new Error('unreadable');
    });
    expect(await throwing(metrics.render())).toThrow('unreadable');
  });
});

describe('a histogram', () => {
  test('has cumulative buckets with inclusive bounds, an infinite one that is the count, and the sum', async () => {
    const metrics = openMetrics();
    const took = metrics.histogram({
      name: 'took_seconds',
      help: 'x',
      labels: ['what'],
      buckets: [0.1, 1],
    })({ what: 'a' });
    for (const value of [0, 0.1, 0.5, 1, 4]) took.observe(value);
    const text = await metrics.render();
    expect(text.split('\n').slice(1)).toEqual([
      '# TYPE took_seconds histogram',
      'took_seconds_bucket{what="a",le="0.1"} 2',
      'took_seconds_bucket{what="a",le="1"} 4',
      'took_seconds_bucket{what="a",le="+Inf"} 5',
      'took_seconds_sum{what="a"} 5.6',
      'took_seconds_count{what="a"} 5',
      '',
    ]);
    parseExposition(text);
  });

  test('without labels has no stray comma before le', async () => {
    const metrics = openMetrics();
    metrics
      .histogram({ name: 'took', help: 'x', buckets: [1] })({})
      .observe(2);
    expect((await metrics.render()).split('\n').slice(2, 5)).toEqual([
      'took_bucket{le="1"} 0',
      'took_bucket{le="+Inf"} 1',
      'took_sum 2',
    ]);
  });

  test('is refused without ascending finite buckets', () => {
    for (const buckets of [[], [1, 1], [2, 1], [Number.NaN], [1, Infinity]]) {
      expect(() => openMetrics().histogram({ name: 'took', help: 'x', buckets })).toThrow(
        'The buckets of took must be finite numbers that ascend.',
      );
    }
  });
});

test('the process shows its memory, processor time, start and open files under the customary names', async () => {
  const metrics = openMetrics();
  const nowMs = 1_764_000_000_000;
  processMetrics(metrics, { now: () => nowMs });
  const families = parseExposition(await metrics.render());
  const value = (name: string) => families.get(name)?.series.get(name) ?? Number.NaN;
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(value('process_start_time_seconds')).toBeLessThan(nowMs / 1000);
  expect(families.has('process_open_fds')).toBe(process.platform === 'linux');
  if (process.platform === 'linux') expect(value('process_open_fds')).toBeGreaterThan(2);
});
