import { quantile } from '../compared.ts';

/** What one round of a measure gave on one side. */
export interface Measured {
  /** Milliseconds of wall time an operation. */
  readonly wallMs: number;
  /** Milliseconds of the sidecar's CPU time an operation; null where the system does not tell it. */
  readonly cpuMs: number | null;
}

/** Measures one side once. */
export type Measure<Side> = (side: Side) => Promise<Measured>;

/** The medians of both sides, and what the other side takes for one of this side, with its quartiles. */
export interface Compared {
  readonly thisMs: number;
  readonly otherMs: number;
  readonly ratio: number;
  readonly quartiles: readonly [number, number];
}

/**
 * Measures both sides in turn, `rounds` times; each round begins with the other side. A ratio is that of one round, in
 * which both sides had the same machine, so other load cancels out of their median. One round more comes before them and
 * is not counted, in which the runtime compiles what is called often.
 */
export async function inRounds<Side>(
  sides: { readonly current: Side; readonly other: Side },
  rounds: number,
  measure: Measure<Side>,
): Promise<{ wall: Compared; cpu: Compared | null }> {
  const current: Measured[] = [];
  const other: Measured[] = [];
  for (const side of [sides.current, sides.other]) await measure(side);
  for (let round = 0; round < rounds; round++) {
    const order =
      round % 2 === 0 ? (['current', 'other'] as const) : (['other', 'current'] as const);
    for (const name of order) {
      (name === 'current' ? current : other).push(await measure(sides[name]));
    }
  }
  const wallOf = (measured: readonly Measured[]) => measured.map(({ wallMs }) => wallMs);
  const cpuOf = (measured: readonly Measured[]) => measured.flatMap(({ cpuMs }) => cpuMs ?? []);
  const cpus = [cpuOf(current), cpuOf(other)] as const;
  return {
    wall: compared(wallOf(current), wallOf(other)),
    cpu: cpus[0].length === rounds && cpus[1].length === rounds ? compared(...cpus) : null,
  };
}

function compared(current: readonly number[], other: readonly number[]): Compared {
  const ratios = current.map((ms, round) => (other[round] ?? 0) / ms);
  return {
    thisMs: quantile(current, 0.5),
    otherMs: quantile(other, 0.5),
    ratio: quantile(ratios, 0.5),
    quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}
