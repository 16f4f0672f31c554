import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { KINDS } from './kinds.ts';
import { KillRun } from './rounds.ts';
import type { Victim } from './world.ts';

/**
 * Kills the sidecar, its LDK node or both, at random times and at steps, and compares what is left. Prints the figures
 * for docs/ldk.md: `bun run tests/faults/ldk/index.ts --rounds 200 --seed 7 --kinds offer,hold`. The binary must have
 * been built with the node. With `--between 3,59 --victim helper` all kills are at such times in milliseconds;
 * `--log FILE` keeps the sidecar's log when there was a problem.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    kinds: { type: 'string', default: Object.keys(KINDS).join(',') },
    batch: { type: 'string', default: '50' },
    victim: { type: 'string' },
    between: { type: 'string' },
    log: { type: 'string' },
  },
});
const [from, to] = (values.between ?? '').split(',').map(Number);
const startedMs = performance.now();
const tally = await new KillRun({
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  kinds: values.kinds.split(','),
  batch: Number(values.batch),
  victim: values.victim as Victim | undefined,
  betweenMs: from !== undefined && to !== undefined ? [from, to] : undefined,
  say: (line) => console.log(`${((performance.now() - startedMs) / 1000).toFixed(0)} s: ${line}`),
  keepLog: (log) => {
    if (values.log !== undefined) writeFileSync(values.log, log);
  },
}).run();
console.log(`${tally.kills} kills with the seed ${values.seed}`);
for (const [way, kills] of tally.ways) console.log(`  ${way}: ${kills}`);
for (const [kind, ends] of tally.ends) {
  const words = [...ends].map(([word, times]) => `${word} ${times}`).join(', ');
  console.log(`  ${kind}: ${tally.kindKills.get(kind) ?? 0} kills; ${words}`);
}
console.log(`closed by force: ${tally.forced.length} ${JSON.stringify(tally.forced)}`);
console.log(`ended with blocks alone: ${tally.hanging.length}`);
for (const told of tally.hanging) console.log(`  ${told}`);
console.log(`slowest return: ${(tally.slowestBackMs / 1000).toFixed(1)} s`);
console.log(`problems: ${tally.problems.length}`);
for (const problem of tally.problems) console.log(problem);
process.exit(tally.problems.length === 0 ? 0 : 1);
