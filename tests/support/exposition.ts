/** One family of metrics in text form: the value of each series, by the series' text such as `name{a="b"}`. */
export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly series: ReadonlyMap<string, number>;
  /** Every label value that occurs, unescaped. */
  readonly labelValues: ReadonlySet<string>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([^ ]+)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/;

/**
 * Reads Prometheus' text format 0.0.4 more strictly than Prometheus does: every family has one HELP and one TYPE line
 * before its samples, which are not mixed with those of other families; no series occurs twice; buckets are cumulative
 * and complete. Throws an Error that names the line.
 */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const lines = text.slice(0, -1).split('\n');
  let at = 0;
  while (at < lines.length) {
    const help = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(lines[at++] ?? '');
    const type = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`).exec(lines[at++] ?? '');
    const name = help?.[1];
    if (!name || name !== type?.[1]) throw new Error(`no HELP and TYPE before line ${at}`);
    if (families.has(name)) throw new Error(`${name} occurs twice`);
    const family = {
      name,
      type: type[2] ?? '',
      help: help[2] ?? '',
      series: new Map<string, number>(),
      labelValues: new Set<string>(),
    };
    for (; at < lines.length && !lines[at]?.startsWith('#'); at++) readSample(lines[at], family);
    if (family.type === 'histogram') checkBuckets(family);
    families.set(name, family);
  }
  return families;
}

function readSample(
  line = '',
  family: { name: string; type: string; series: Map<string, number>; labelValues: Set<string> },
): void {
  const [, name = '', labels, value = ''] = SAMPLE.exec(line) ?? [];
  const own = family.type === 'histogram' ? /^(.*)_(bucket|sum|count)$/.exec(name)?.[1] : name;
  if (own !== family.name) throw new Error(`not a sample of ${family.name}: ${line}`);
  const seen = new Set<string>();
  for (let rest = labels ?? ''; rest !== ''; ) {
    const [whole, label = '', escaped = '', next] = LABEL.exec(rest) ?? [];
    if (whole === undefined || seen.has(label) || (next === ',' && whole === rest)) {
      throw new Error(`malformed labels: ${line}`);
    }
    seen.add(label);
    family.labelValues.add(
      escaped.replace(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one)),
    );
    rest = rest.slice(whole.length);
  }
  const number = value === '+Inf' ? Infinity : Number(value);
  if (Number.isNaN(number)) throw new Error(`not a number: ${line}`);
  if (family.type === 'counter' && number < 0) throw new Error(`a negative count: ${line}`);
  const key = labels === undefined ? name : `${name}{${labels}}`;
  if (family.series.has(key)) throw new Error(`${key} occurs twice`);
  family.series.set(key, number);
}

function checkBuckets({ name, series }: { name: string; series: Map<string, number> }): void {
  const open = new Map<string, { le: number; count: number }>();
  for (const [key, count] of series) {
    const bucket = /^.*_bucket\{(.*?),?le="([^"]+)"\}$/.exec(key);
    if (!bucket) continue;
    const [, labels = '', bound] = bucket;
    const le = bound === '+Inf' ? Infinity : Number(bound);
    const last = open.get(labels);
    if (last && !(le > last.le && count >= last.count)) throw new Error(`not cumulative: ${key}`);
    open.set(labels, { le, count });
  }
  for (const [labels, { le, count }] of open) {
    const braces = labels === '' ? '' : `{${labels}}`;
    if (le !== Infinity || series.get(`${name}_count${braces}`) !== count) {
      throw new Error(`the last bucket of ${name}${braces} is not its count`);
    }
    if (!series.has(`${name}_sum${braces}`)) throw new Error(`${name}${braces} has no sum`);
  }
  if (series.size > 0 && open.size === 0) throw new Error(`${name} has no buckets`);
}
