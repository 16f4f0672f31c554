import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBinary } from '../support/binary.ts';
import { startDevSidecar } from '../support/dev-sidecar.ts';
import type { Family } from '../support/exposition.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { metricsReader } from '../support/metrics-reader.ts';
import { codeIn, rowsOf } from '../support/pages.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { readsOf } from './promql.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Metrics that Prometheus makes itself, and labels that it gives to what it scrapes. */
const PROMETHEUS_OWN = { metrics: ['up'], labels: ['instance', 'job'] };
/** Metrics that only Linux shows. */
const LINUX_ONLY = ['process_open_fds'];

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: unknown;
  }[];
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const monitoring = join(ROOT, 'packaging', 'monitoring');
const rulesFile = join(monitoring, 'alerts.yaml');
const board = JSON.parse(readFileSync(join(monitoring, 'grafana-dashboard.json'), 'utf8'));
const panels: readonly Panel[] = board.panels;
const drawn = panels.filter(({ type }) => type !== 'row');
const boardExpressions = drawn.flatMap(({ targets }) => targets?.map(({ expr }) => expr) ?? []);
const rules: readonly Rule[] = (
  Bun.YAML.parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const expressions = [...boardExpressions, ...rules.map(({ expr }) => expr)];

const folder = temporaryFolder('monitoring');
/** What the program shows once it has paid. */
let families: ReadonlyMap<string, Family>;
beforeAll(async () => {
  const sidecar = await startDevSidecar({
    dataDir: join(folder, 'data'),
    port: freePort(),
    // Metrics of webhooks are there only where somebody is to be told.
    webhookUrl: `http://127.0.0.1:${freePort()}/hook`,
  });
  try {
    const asked = { body: { amount: '5' } };
    const { invoice } = (await sidecar.call('POST', '/sandbox/invoice', asked)) as {
      invoice: string;
    };
    await sidecar.call('POST', '/v2/node/pay', { body: { payable: invoice } });
    families = await metricsReader(() => sidecar.baseUrl).scrape();
  } finally {
    await sidecar.stop();
  }
});
afterAll(() => removeFolder(folder));

/** Returns the family that a name in an expression belongs to; of a histogram these are three names. */
function familyOf(name: string): Family | undefined {
  const own = families.get(name);
  if (own) return own.type === 'histogram' ? undefined : own;
  const histogram = families.get(name.replace(/_(?:bucket|sum|count)$/, ''));
  return histogram?.type === 'histogram' ? histogram : undefined;
}

function labelsOf({ series }: Family): Set<string> {
  const keys = [...series.keys()].flatMap((key) => [...key.matchAll(/[{,](\w+)="/g)]);
  return new Set(keys.map(([, label = '']) => label));
}

describe('the dashboard and the alerts', () => {
  test('read metrics that the program has, and no others', () => {
    const known = [...PROMETHEUS_OWN.metrics, ...LINUX_ONLY];
    const named = new Set(expressions.flatMap((expression) => readsOf(expression).metrics));
    const unknown = [...named].filter((name) => !known.includes(name) && !familyOf(name));
    expect(unknown).toEqual([]);
    expect(named.size).toBeGreaterThan(15);
  });

  test('select and group by labels and values that the program has', () => {
    const wrong = expressions.flatMap((expression) => {
      const { metrics, matchers, grouped } = readsOf(expression);
      const found = metrics.flatMap((name) => familyOf(name) ?? []);
      const labels = new Set([
        ...PROMETHEUS_OWN.labels,
        ...found.flatMap((it) => [...labelsOf(it)]),
      ]);
      const unknownLabels = [...grouped, ...matchers.map(({ label }) => label)].filter(
        (label) => !labels.has(label),
      );
      // Values that are chosen by a pattern, and statuses, need not have occurred.
      const unknownValues = matchers
        .filter(({ label }) => !PROMETHEUS_OWN.labels.includes(label) && label !== 'status')
        .filter(({ compared }) => compared === '=' || compared === '!=')
        .filter(({ metric, value }) => familyOf(metric)?.labelValues.has(value) !== true)
        .map(({ label, value }) => `${label}="${value}"`);
      return [...unknownLabels, ...unknownValues].map((it) => `${it} in ${expression}`);
    });
    expect(wrong).toEqual([]);
  });

  test.skipIf(isMissing('promtool'))('are well formed, as promtool reads them', async () => {
    const recorded = boardExpressions.map((expr, nth) => ({
      record: `panel:${nth}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(folder, 'board.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules: recorded }] }));
    const checked = await run(['promtool', 'check', 'rules', rulesFile, file]);
    expect(checked).toEqual({ exitCode: 0, output: expect.stringContaining('SUCCESS') });
  });
});

test('an alert hears of what only health says, such as a disk that is full', async () => {
  expect(families.get('wallet_sidecar_healthy')?.series.get('wallet_sidecar_healthy')).toBe(1);
  // Without credentials health is not ok.
  const missing = startBinary(['serve', '--data-dir', ':memory:', '--listen-addr', '127.0.0.1:0']);
  try {
    const url = await missing.ready();
    expect(await metricsReader(() => url).value('wallet_sidecar_healthy')).toBe(0);
  } finally {
    await missing.stop();
  }
});

describe('the dashboard', () => {
  test('shows every metric of the program', () => {
    const shown = new Set(
      boardExpressions.flatMap((expression) =>
        readsOf(expression).metrics.map((name) => familyOf(name)?.name),
      ),
    );
    expect([...families.keys()].filter((name) => !shown.has(name))).toEqual([]);
  });

  test('can be imported: one variable, for the data source, which every panel uses', () => {
    expect(board).toMatchObject({
      uid: 'wallet-sidecar',
      title: 'wallet-sidecar',
      annotations: { list: [] },
    });
    const [variable, ...others] = board.templating.list;
    expect(variable).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    expect(others).toEqual([]);
    const source = { type: 'prometheus', uid: `\${datasource}` };
    const sources = drawn.flatMap(({ datasource, targets = [] }) => [
      datasource,
      ...targets.map((target) => target.datasource),
    ]);
    expect(sources.filter((one) => !Bun.deepEquals(one, source))).toEqual([]);
    const names = JSON.stringify(board).match(/\$\{?\w+/g) ?? [];
    expect([...new Set(names)].toSorted()).toEqual(['$__rate_interval', `\${datasource`]);
  });

  test('has panels with a title, words and queries, none over another', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, description, targets = [] } of drawn) {
      expect([title, description]).toEqual([
        expect.stringMatching(/^[A-Z]/),
        expect.stringMatching(/\.$/),
      ]);
      expect(targets.map(({ refId }) => refId)).toEqual(
        [...'ABCDEF'].slice(0, targets.length || 1),
      );
    }
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, nth) => `${x + (nth % w)} ${y + Math.floor(nth / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.filter((cell) => Number(cell.split(' ')[0]) > 23)).toEqual([]);
  });
});

describe('the alerts', () => {
  test('say how bad it is, what happened, and what to do', () => {
    const sentence = expect.stringMatching(/\.$|wallet-sidecar [a-z]/);
    for (const { alert, labels, annotations } of rules) {
      expect({ alert, labels, annotations }).toEqual({
        alert: expect.stringMatching(/^WalletSidecar[A-Z]/),
        labels: { severity: expect.stringMatching(/^(?:critical|warning)$/) },
        annotations: { summary: sentence, description: sentence },
      });
    }
  });

  test('are those that docs/metrics.md names', () => {
    const told = rowsOf('docs/metrics.md', 'Board and alerts').map(([name, severity]) => [
      ...codeIn(name),
      severity,
    ]);
    expect(told).toEqual(rules.map(({ alert, labels }) => [alert, labels.severity]));
  });

  test.skipIf(isMissing('promtool'))('fire for each trouble, and not without', async () => {
    const text = readFileSync(join(import.meta.dir, 'alerts-test.yaml'), 'utf8');
    const file = join(folder, 'alerts-test.yaml');
    writeFileSync(file, text.replaceAll('RULES', rulesFile));
    const tested = await run(['promtool', 'test', 'rules', file]);
    expect(tested).toEqual({ exitCode: 0, output: expect.stringContaining('SUCCESS') });
  });
});

describe('what is told of an expression', () => {
  test('metrics, matchers and groups, and nothing else', () => {
    expect(
      readsOf(
        '1e3 * sum by (a, b) (rate(x_total{c="d e",f=~"g|h"}[5m] offset 1d)) and on (i) y > bool 2.5',
      ),
    ).toEqual({
      metrics: ['x_total', 'y'],
      matchers: [
        { metric: 'x_total', label: 'c', compared: '=', value: 'd e' },
        { metric: 'x_total', label: 'f', compared: '=~', value: 'g|h' },
      ],
      grouped: ['a', 'b', 'i'],
    });
    for (const broken of ['sum(x', 'x)', 'rate(x[5m)]']) expect(() => readsOf(broken)).toThrow();
  });
});
