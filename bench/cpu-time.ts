import { readFileSync } from 'node:fs';

/** The ticks of a second in which Linux counts CPU time (`getconf CLK_TCK`). */
const TICKS = 100;

/** The CPU time that a process has used, in milliseconds; null where there is no /proc. */
export function cpuTimeMs(pid: number): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name of the program stands in parentheses and may hold blanks (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}
