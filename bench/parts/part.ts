import type { Recorder } from '../figures.ts';
import type { Floors } from '../floors.ts';

/** What a part works with. */
export interface Bench extends Recorder {
  /** An empty folder of its own. */
  readonly folder: string;
  /** Returns the compiled floors; the first call builds them. */
  readonly floors: () => Promise<Floors>;
}

/** A part of the bench, which can be measured alone. */
export interface Part {
  readonly name: string;
  /** Measures it. Notes nothing if a program that it needs is not on this machine, and says so. */
  readonly measure: (bench: Bench) => Promise<void>;
}
