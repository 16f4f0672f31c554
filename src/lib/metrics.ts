/** A count that only goes up. */
export interface Counter {
  /** Adds `by`, which is 1 by default. Throws RangeError when it is negative or not a number. */
  inc(by?: number): void;
}

/** Counts of observed values by size. */
export interface Histogram {
  observe(value: number): void;
}

/** A family of series, which share one name, one meaning and one set of labels. */
interface FamilyOptions<Label extends string> {
  readonly name: string;
  /** One sentence for the HELP line. */
  readonly help: string;
  readonly labels?: readonly Label[];
}

type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

interface Sample<Label extends string> {
  readonly labels: LabelValues<Label>;
  readonly value: number;
}

/**
 * A set of metrics by name. Callers look a series up once and keep it, so that counting costs one addition.
 * Registering throws an Error for a malformed or taken name; so does looking a series up with labels that its family
 * does not have.
 */
export interface Metrics {
  /** Registers counters. Returns a function that gives the counter of some label values, the same each time. */
  counter<const Label extends string = never>(
    options: FamilyOptions<Label>,
  ): (values: LabelValues<Label>) => Counter;
  /** Registers histograms. `buckets` are inclusive upper bounds in ascending order, without the infinite last one. */
  histogram<const Label extends string = never>(
    options: FamilyOptions<Label> & { readonly buckets: readonly number[] },
  ): (values: LabelValues<Label>) => Histogram;
  /** Registers values that may rise and fall. They are read whenever the metrics are rendered. */
  gauge<const Label extends string = never>(
    options: FamilyOptions<Label>,
    read: ReadSamples<Label>,
  ): void;
  /** Registers counts that are kept elsewhere. They are read whenever the metrics are rendered. */
  readCounter<const Label extends string = never>(
    options: FamilyOptions<Label>,
    read: ReadSamples<Label>,
  ): void;
  /** Returns everything registered, in Prometheus' text format 0.0.4. */
  render(): Promise<string>;
}

type ReadSamples<Label extends string> = () => Promise<readonly Sample<Label>[]>;

/** The content type of {@link Metrics.render}. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Opens an empty set of metrics. */
export function openMetrics(): Metrics {
  const families = new Map<string, () => Promise<string>>();

  function register(
    type: 'counter' | 'gauge' | 'histogram',
    { name, help, labels = [] }: FamilyOptions<string>,
    lines: () => Promise<string>,
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
      register('counter', options, async () => series.lines());
      return series.of;
    },
    histogram({ buckets, ...options }) {
      requireAscending(options.name, buckets);
      const series = seriesBy(
        options,
        (labels) => new HistogramSeries(options.name, labels, buckets),
      );
      register('histogram', options, async () => series.lines());
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

/** The series of one family. Each is made when it is first looked up. */
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
  /** The count of each bucket alone, not cumulative. The last one counts values above every bound. */
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
    // Bounds are few, so a linear search is faster than a binary one. NaN counts as above every bound.
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
