/** A count that only goes up. */
export interface Counter {
  /** Adds `by`, one unless told. Throws RangeError when that is negative or not a number. */
  inc(by?: number): void;
}

/** How values are spread. */
export interface Histogram {
  observe(value: number): void;
}

/** What a family of series is: one name, one meaning, one set of labels. */
export interface FamilyOptions<Label extends string> {
  readonly name: string;
  /** One sentence for the HELP line. */
  readonly help: string;
  /** The labels that every series of the family has. */
  readonly labels?: readonly Label[];
}

/** The value of each label of a family. */
export type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

/** A value that is read when the metrics are. */
export interface Sample<Label extends string> {
  readonly labels: LabelValues<Label>;
  readonly value: number;
}

/**
 * Metrics by name. A series is looked up once and kept by who counts, so that counting is an addition. Registering
 * throws an Error for a malformed or taken name; looking a series up with other labels than the family's does too.
 */
export interface Metrics {
  /** Registers counters; the answered function gives the counter of some label values, the same each time. */
  counter<const Label extends string = never>(
    options: FamilyOptions<Label>,
  ): (values: LabelValues<Label>) => Counter;
  /** Registers histograms; `buckets` are upper bounds, inclusive and ascending, without the last, which is infinite. */
  histogram<const Label extends string = never>(
    options: FamilyOptions<Label> & { readonly buckets: readonly number[] },
  ): (values: LabelValues<Label>) => Histogram;
  /** Registers values that may go up and down, read whenever the metrics are. */
  gauge<const Label extends string = never>(
    options: FamilyOptions<Label>,
    read: ReadSamples<Label>,
  ): void;
  /** Registers counts that are kept elsewhere, read whenever the metrics are. */
  readCounter<const Label extends string = never>(
    options: FamilyOptions<Label>,
    read: ReadSamples<Label>,
  ): void;
  /** Everything registered, in Prometheus' text format 0.0.4. */
  render(): Promise<string>;
}

type ReadSamples<Label extends string> = () =>
  | readonly Sample<Label>[]
  | Promise<readonly Sample<Label>[]>;

/** The content type of {@link Metrics.render}. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Opens an empty set of metrics. */
export function openMetrics(): Metrics {
  const families = new Map<string, () => string | Promise<string>>();

  function register(
    type: 'counter' | 'gauge' | 'histogram',
    { name, help, labels = [] }: FamilyOptions<string>,
    lines: () => string | Promise<string>,
  ): void {
    requireName(name, /^[a-zA-Z_:][a-zA-Z0-9_:]*$/);
    for (const label of labels) requireName(label, /^(?!__|le$)[a-zA-Z_][a-zA-Z0-9_]*$/);
    if (families.has(name)) throw new Error(`The metric ${name} is registered already.`);
    const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    families.set(name, async () => head + (await lines()));
  }

  function readFamily(type: 'counter' | 'gauge') {
    return <Label extends string>(options: FamilyOptions<Label>, read: ReadSamples<Label>) =>
      register(type, options, async () =>
        (await read())
          .map(({ labels, value }) => line(options.name, labelText(options, labels), value))
          .join(''),
      );
  }

  return {
    counter(options) {
      const series = seriesBy(options, (labels) => new CounterSeries(options.name, labels));
      register('counter', options, series.lines);
      return series.of;
    },
    histogram({ buckets, ...options }) {
      requireAscending(options.name, buckets);
      const series = seriesBy(
        options,
        (labels) => new HistogramSeries(options.name, labels, buckets),
      );
      register('histogram', options, series.lines);
      return series.of;
    },
    gauge: readFamily('gauge'),
    readCounter: readFamily('counter'),
    async render() {
      return (await Promise.all([...families.values()].map((lines) => lines()))).join('');
    },
  };
}

interface Series {
  lines(): string;
}

/** The series of one family, each made when it is first asked for. */
function seriesBy<Label extends string, One extends Series>(
  options: FamilyOptions<Label>,
  make: (labels: string) => One,
) {
  const known = new Map<string, One>();
  return {
    of(values: LabelValues<Label>): One {
      const labels = labelText(options, values);
      const series = known.get(labels) ?? make(labels);
      known.set(labels, series);
      return series;
    },
    lines: () => [...known.values()].map((series) => series.lines()).join(''),
  };
}

class CounterSeries implements Counter, Series {
  #count = 0;
  readonly #name: string;
  readonly #labels: string;

  constructor(name: string, labels: string) {
    this.#name = name;
    this.#labels = labels;
  }

  inc(by = 1): void {
    if (!(by >= 0)) throw new RangeError(`${this.#name} cannot go up by ${by}.`);
    this.#count += by;
  }

  lines(): string {
    return line(this.#name, this.#labels, this.#count);
  }
}

class HistogramSeries implements Histogram, Series {
  readonly #name: string;
  readonly #labels: string;
  readonly #bounds: readonly number[];
  /** By bucket, not yet added up; the last holds what is beyond every bound. */
  readonly #counts: number[];
  #sum = 0;

  constructor(name: string, labels: string, bounds: readonly number[]) {
    this.#name = name;
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    // Few bounds: going through them is quicker than halving. A value that is no number lies beyond all of them.
    while (bucket < this.#bounds.length && !(value <= (this.#bounds[bucket] ?? value))) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  lines(): string {
    let count = 0;
    let text = '';
    for (const [bucket, own] of this.#counts.entries()) {
      count += own;
      const le = `le="${formatValue(this.#bounds[bucket] ?? Infinity)}"`;
      const labels = this.#labels === '' ? le : `${this.#labels},${le}`;
      text += line(`${this.#name}_bucket`, labels, count);
    }
    text += line(`${this.#name}_sum`, this.#labels, this.#sum);
    return text + line(`${this.#name}_count`, this.#labels, count);
  }
}

function requireName(name: string, pattern: RegExp): void {
  if (!pattern.test(name)) throw new Error(`${name} cannot name a metric or a label.`);
}

function requireAscending(name: string, buckets: readonly number[]): void {
  const ascending = buckets.every(
    (bound, at) => Number.isFinite(bound) && bound > (buckets[at - 1] ?? -Infinity),
  );
  if (ascending && buckets.length > 0) return;
  throw new Error(`The buckets of ${name} must be finite numbers that ascend.`);
}

/** The labels as they stand between the braces, in the order of the family. */
function labelText<Label extends string>(
  { name, labels = [] }: FamilyOptions<Label>,
  values: LabelValues<Label>,
): string {
  const given = Object.keys(values);
  if (given.length !== labels.length || labels.some((label) => values[label] === undefined)) {
    throw new Error(`${name} has the labels [${labels.join(', ')}], not [${given.join(', ')}].`);
  }
  return labels.map((label) => `${label}="${escapeLabel(values[label])}"`).join(',');
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${formatValue(value)}\n`;
}

function formatValue(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
