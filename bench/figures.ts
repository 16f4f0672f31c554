import type { LoadResult } from './load.ts';
import type { Picture } from './page/picture.ts';
import type { TargetName } from './targets.ts';

/** One line of a table. */
export interface Figure {
  readonly name: string;
  readonly value: string;
  /** The floor or the peer that it is told beside. */
  readonly beside?: string;
  /** The target that it has, and the number that is held against it, in the target's unit. */
  readonly goal?: Goal;
}

/** A number and its target. */
export interface Goal {
  readonly target: TargetName;
  readonly is: number;
}

/** Adds one line to the table of figures. */
export type Note = (
  name: string,
  value: string,
  more?: { readonly beside?: string; readonly goal?: Goal },
) => void;

/** Where a part puts what it measured. */
export interface Recorder {
  readonly note: Note;
  readonly draw: (picture: Picture) => void;
}

/** Returns a rate with its latencies in words. */
export const rate = (result: LoadResult) =>
  `${Math.round(result.perSecond)}/s, p50 ${result.p50Ms.toFixed(2)} ms, p99 ${result.p99Ms.toFixed(2)} ms`;

/** Adds a rate to the table, compared with its floor. */
export function noteRatio(
  note: Note,
  name: string,
  { result, floor, what, target }: ComparedRate,
): void {
  const ratio = result.perSecond / floor.perSecond;
  note(name, rate(result), {
    beside: `${ratio.toFixed(2)} of ${Math.round(floor.perSecond)}/s, ${what}`,
    ...(target === undefined ? {} : { goal: { target, is: ratio } }),
  });
}

interface ComparedRate {
  readonly result: LoadResult;
  readonly floor: LoadResult;
  /** The floor in words. */
  readonly what: string;
  /** The target for the ratio. */
  readonly target?: TargetName;
}
