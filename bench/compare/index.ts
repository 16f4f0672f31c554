import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { BINARY } from '../../tests/support/binary.ts';
import { removeFolder, temporaryFolder } from '../../tests/support/folder.ts';
import { measuresOf } from './measures.ts';
import { buildCommit } from './other-build.ts';
import { type Compared, inRounds } from './rounds.ts';
import { type Side, startSide } from './side.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const ROWS = Number(process.env.BENCH_ROWS ?? 20_000);
/** Part of the names of what is to be measured; everything when absent. */
const ONLY = process.env.BENCH_ONLY ?? '';

/**
 * Compares this tree with another commit, both compiled and on the same machine at the same time, and prints a table in
 * Markdown. A ratio above 1 means that this tree takes less.
 */
export async function compareWith(revision: string): Promise<void> {
  const folder = temporaryFolder('compare');
  const sides: { current?: Side; other?: Side } = {};
  try {
    const { commit, binary, note } = await buildCommit(revision, folder);
    const current = await startSide(BINARY, join(folder, 'this'), ROWS);
    sides.current = current;
    const other = await startSide(binary, join(folder, 'other'), ROWS);
    sides.other = other;
    const [load = 0] = loadavg();
    console.log(
      `${cpus().length} x ${cpus()[0]?.model}, load ${load.toFixed(1)}, ${ROUNDS} rounds, ${ROWS} payments. How many times as much ${commit} takes, with the quartiles of the rounds:\n`,
    );
    if (note !== null) console.log(`${note}\n`);
    console.log(
      `| an operation | CPU time: this, ${commit}, ratio | wall time: this, ${commit}, ratio |`,
    );
    console.log('|---|---|---|');
    for (const { name, measure } of measuresOf()) {
      if (!name.includes(ONLY)) continue;
      const { cpu, wall } = await inRounds({ current, other }, ROUNDS, measure);
      console.log(`| ${name} | ${cpu === null ? '' : cellOf(cpu)} | ${cellOf(wall)} |`);
    }
  } finally {
    for (const side of Object.values(sides)) await side.stop();
    removeFolder(folder);
  }
}

function cellOf({ thisMs, otherMs, ratio, quartiles }: Compared): string {
  const [low, high] = quartiles.map((one) => one.toFixed(2));
  return `${inWords(thisMs)}, ${inWords(otherMs)}, ${ratio.toFixed(2)} (${low} to ${high})`;
}

function inWords(ms: number): string {
  return ms < 1 ? `${(ms * 1000).toFixed(0)} µs` : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}
