import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Figure } from './figures.ts';
import type { Picture } from './page/picture.ts';

/** How much other programs had to do when a part began or ended. */
export interface Surroundings {
  /** The load average of the last minute, which a part before this one is counted in. */
  readonly load: number;
  /** The percentage of the processors that was used while the bench did nothing. */
  readonly busyPercent: number;
}

/** What one part measured, with where and when. */
export interface PartResult {
  readonly part: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly commit: string;
  readonly machine: string;
  readonly bun: string;
  readonly before: Surroundings;
  readonly after: Surroundings;
  /** The sizes in which it differs from a whole run. */
  readonly differences: readonly string[];
  readonly figures: readonly Figure[];
  readonly pictures: readonly Picture[];
}

const DAY_MS = 24 * 3_600_000;

/** Returns the parts in a file of results; none where there is no such file. */
export function readResults(path: string): PartResult[] {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as PartResult[]) : [];
}

/** Writes parts to a file of results. */
export function writeResults(path: string, parts: readonly PartResult[]): void {
  // A figure without a limit, such as a wait that was never woken, is not a number of JSON.
  const text = JSON.stringify(parts, (_, value) => (value === Infinity ? 1e308 : value), 2);
  writeFileSync(path, `${text}\n`);
}

/** Puts results together: of each part the newest. The order is that in which they began. */
export function newestOf(results: readonly PartResult[]): PartResult[] {
  const byPart = new Map<string, PartResult>();
  for (const one of results) {
    const other = byPart.get(one.part);
    if (other === undefined || other.startedAt < one.startedAt) byPart.set(one.part, one);
  }
  return [...byPart.values()].toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
}

/**
 * Whether a part was measured on another machine or another day than the first of a page, between two whole runs: only
 * figures of one machine and one day are compared, so such a part says that it stands alone.
 */
export function isApart(part: PartResult, first: PartResult): boolean {
  const daysMs = Math.abs(Date.parse(part.startedAt) - Date.parse(first.startedAt));
  return part.machine !== first.machine || part.bun !== first.bun || daysMs > DAY_MS;
}
