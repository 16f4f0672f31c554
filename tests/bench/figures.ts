import type { Note } from './endurance.ts';
import type { LoadResult } from './load.ts';

/** One line of the table. */
interface Figure {
  readonly name: string;
  readonly value: string;
  readonly wanted?: string;
  readonly met?: boolean;
}
/** The figures measured so far. */
export const figures: Figure[] = [];
/** Adds a figure to the table and prints it. */
export const note: Note = (name, value, wanted, met) => {
  figures.push({
    name,
    value,
    ...(wanted === undefined ? {} : { wanted }),
    ...(met === undefined ? {} : { met }),
  });
  console.log(
    `${name.padEnd(52)} ${value}${wanted ? `  (wanted ${wanted}: ${met ? 'met' : 'MISSED'})` : ''}`,
  );
};

/** Returns a rate with its latencies in words. */
export const rate = (result: LoadResult) =>
  `${Math.round(result.perSecond)}/s, p50 ${result.p50Ms.toFixed(2)} ms, p99 ${result.p99Ms.toFixed(2)} ms`;
/** Adds a rate to the table, compared with its floor. */
export const ratio = (name: string, result: LoadResult, floor: LoadResult, least: number) => {
  const value = result.perSecond / floor.perSecond;
  note(name, `${rate(result)}; ratio ${value.toFixed(2)}`, `${least}`, value >= least);
};
