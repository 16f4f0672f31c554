import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tests/support/binary.ts';
import { removeFolder, temporaryFolder } from '../tests/support/folder.ts';
import type { Figure, Note } from './figures.ts';
import { buildFloors, type Floors } from './floors.ts';
import type { Picture } from './page/picture.ts';
import { PARTS } from './parts/index.ts';
import type { Part } from './parts/part.ts';
import { newestOf, type PartResult, readResults, writeResults } from './results.ts';
import { differences } from './settings.ts';
import { machine, surroundings } from './surroundings.ts';
import { isMet, TARGETS, wanted } from './targets.ts';

/** The file of results, in which a part that is measured again replaces its older figures. */
export const RESULTS = join(ROOT, 'dist', 'bench.json');

/**
 * Measures these parts, or all, and writes each to {@link RESULTS} as soon as it is measured. Throws Error at the end if
 * some could not be measured.
 */
export async function measureParts(names: readonly string[] | null): Promise<void> {
  const parts = names === null ? PARTS : names.map(partOf);
  const folder = temporaryFolder('bench');
  const broken: string[] = [];
  let building: Promise<Floors> | null = null;
  const floors = () => {
    building ??= buildFloors(join(folder, 'floors'));
    return building;
  };
  try {
    for (const part of parts) {
      try {
        const result = await measurePart(part, join(folder, part.name), floors);
        if (result.figures.length === 0) console.log('nothing was measured');
        else writeResults(RESULTS, newestOf([...readResults(RESULTS), result]));
      } catch (error) {
        // A whole run takes more than an hour, so the parts after this one are measured all the same.
        console.error(error);
        broken.push(part.name);
      }
    }
  } finally {
    removeFolder(folder);
  }
  if (broken.length > 0)
    throw new Error(`These parts could not be measured: ${broken.join(', ')}.`);
  console.log(`\nwritten to ${RESULTS}`);
}

async function measurePart(
  part: Part,
  folder: string,
  floors: () => Promise<Floors>,
): Promise<PartResult> {
  const figures: Figure[] = [];
  const pictures: Picture[] = [];
  const note: Note = (name, value, more = {}) => {
    figures.push({ name, value, ...more });
    console.log(lineOf({ name, value, ...more }));
  };
  mkdirSync(folder);
  const before = await surroundings();
  const startedAt = new Date().toISOString();
  console.log(
    `\n${part.name}, load ${before.load}, ${before.busyPercent} % of the processors used`,
  );
  await part.measure({ note, draw: (picture) => pictures.push(picture), folder, floors });
  const endedAt = new Date().toISOString();
  const after = await surroundings();
  const where = { commit: await commitOf(), machine: machine(), bun: Bun.version };
  const when = { startedAt, endedAt, ...where, before, after, differences: differences() };
  return { part: part.name, ...when, figures, pictures };
}

function lineOf({ name, value, beside, goal }: Figure): string {
  const line = `${name.padEnd(52)} ${value}${beside === undefined ? '' : `; ${beside}`}`;
  if (goal === undefined) return line;
  const target = TARGETS[goal.target];
  return `${line}  (wanted ${wanted(target)}: ${isMet(target, goal.is) ? 'met' : 'MISSED'})`;
}

function partOf(name: string): Part {
  const part = PARTS.find((one) => one.name === name);
  const known = PARTS.map((one) => one.name).join(', ');
  if (part === undefined) throw new Error(`There is no part ${name}. The parts are: ${known}.`);
  return part;
}

async function commitOf(): Promise<string> {
  const { stdout } = Bun.spawnSync(['git', 'describe', '--always', '--dirty'], { cwd: ROOT });
  return stdout.toString().trim();
}
