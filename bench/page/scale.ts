/** Where values of an axis stand, and which of them are written at it. */
export interface Scale {
  /** Returns where a value stands, from 0 at the axis' start to 1 at its end. */
  readonly place: (value: number) => number;
  readonly ticks: readonly number[];
}

/** About how many ticks a linear axis has. */
const TICKS = 5;

/** Returns the scale that holds all these values. A linear one begins at 0; a logarithmic one needs values above 0. */
export function scaleOf(kind: 'linear' | 'log', values: readonly number[]): Scale {
  return kind === 'log' ? logarithmic(values) : linear(Math.max(...values, 0));
}

/** Returns a number as it is written at an axis, such as `100k`. */
export function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  if (value >= 1e3) return `${value / 1e3}k`;
  return `${Number(value.toPrecision(6))}`;
}

function linear(most: number): Scale {
  const step = niceStep(most / TICKS);
  const end = Math.max(Math.ceil(most / step), 1) * step;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, at) => at * step);
  return { place: (value) => value / end, ticks };
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function niceStep(least: number): number {
  if (least <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((times) => times * power >= least) ?? 10) * power;
}

function logarithmic(values: readonly number[]): Scale {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(Math.ceil(Math.log10(Math.max(...values))), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
  return { place: (value) => (Math.log10(value) - first) / (last - first), ticks };
}
