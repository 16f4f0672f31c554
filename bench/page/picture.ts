/** A point of a line: x and y. */
export type Point = readonly [number, number];

/** An axis. Its label ends in the unit. */
export interface Axis {
  readonly label: string;
  readonly scale: 'linear' | 'log';
}

/** Lines over common axes. */
export interface Panel {
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly { readonly name: string; readonly points: readonly Point[] }[];
}

/** A picture of one panel or more, one below the other. */
export interface Picture {
  /** The name of its file, without the ending. */
  readonly name: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}
