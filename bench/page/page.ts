import type { Figure } from '../figures.ts';
import { isApart, type PartResult } from '../results.ts';
import { isMet, TARGETS, type Target, type TargetName, wanted } from '../targets.ts';

/** From this percentage of the processors on, other programs change the figures. */
const BUSY_PERCENT = 10;

/**
 * Makes the page of its template: `{{machine}}` becomes where all was measured, and `{{NAME}}` the figures of that part.
 * Throws Error for a part without results, for results without a place in the template, and for a missed target without
 * a reason.
 */
export function pageOf(template: string, parts: readonly PartResult[]): string {
  const left = new Map(parts.map((part) => [part.part, part]));
  const [first] = parts;
  const page = template.replace(/^\{\{(\w+)\}\}$/gm, (_, name: string) => {
    if (name === 'machine') return machineOf(parts);
    const part = left.get(name);
    if (part === undefined) {
      throw new Error(`The part ${name} was not measured: run npm run bench -- --only ${name}.`);
    }
    left.delete(name);
    return sectionOf(part, first !== undefined && isApart(part, first));
  });
  if (left.size > 0) {
    throw new Error(`The template has no place for the parts ${[...left.keys()].join(', ')}.`);
  }
  return page;
}

function machineOf(parts: readonly PartResult[]): string {
  const [first] = parts;
  const together = parts.filter((part) => first !== undefined && !isApart(part, first));
  const days = new Set(together.map(({ startedAt }) => startedAt.slice(0, 10)));
  return `Measured on ${[...days].toSorted().join(' and ')} on ${first?.machine} with Bun ${first?.bun}.`;
}

/** The figures of one part: when and how it was measured, the table, the reasons of what is missed, and the pictures. */
function sectionOf({ figures, pictures, ...part }: PartResult, isAlone: boolean): string {
  const missed = figures.filter((figure) => !met(figure));
  return [
    circumstances(part, isAlone),
    tableOf(figures),
    ...(missed.length === 0 ? [] : [reasonsOf(missed)]),
    ...pictures.map(({ name, title }) => `![${title}](images/${name}.svg)`),
  ].join('\n\n');
}

type Circumstances = Omit<PartResult, 'figures' | 'pictures'>;

function circumstances(part: Circumstances, isAlone: boolean): string {
  const { startedAt, endedAt, commit, before, after, differences } = part;
  const time = `${startedAt.slice(0, 10)}, ${startedAt.slice(11, 16)} to ${endedAt.slice(11, 16)} UTC`;
  const load = `load average ${before.load.toFixed(1)} before and ${after.load.toFixed(1)} after`;
  const others = `other programs used ${before.busyPercent} % of the processors before and ${after.busyPercent} % after`;
  const busy = Math.max(before.busyPercent, after.busyPercent) >= BUSY_PERCENT;
  return [
    `${time}, commit ${commit}; ${load}; ${others}.`,
    ...(isAlone
      ? [
          `**Measured apart from the other parts**, on ${part.machine} with Bun ${part.bun}: its figures are compared with each other alone.`,
        ]
      : []),
    ...(busy ? ['**The machine was busy with other work, which makes these figures worse.**'] : []),
    ...(differences.length === 0
      ? []
      : [`**Not a whole run**: ${differences.map((one) => `\`${one}\``).join(' ')}.`]),
  ].join(' ');
}

function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, value, beside = '', goal } = figure;
    const cells =
      goal === undefined
        ? ['', '']
        : [wanted(TARGETS[goal.target]), met(figure) ? 'met' : '**missed**'];
    return `| ${[name, value, beside, ...cells].join(' | ')} |`;
  });
  return ['| figure | value | floor or peer | wanted | |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

/** Why targets were missed, those with one reason together. */
function reasonsOf(missed: readonly Figure[]): string {
  const byReason = new Map<string, string[]>();
  for (const { name, goal } of missed) {
    if (goal === undefined) continue;
    const { why } = targetOf(goal.target);
    if (why === null) {
      throw new Error(
        `"${name}" is missed and ${goal.target} has no reason: write one in bench/targets.ts.`,
      );
    }
    byReason.set(why, [...(byReason.get(why) ?? []), name]);
  }
  return [...byReason]
    .map(([why, names]) => `- Missed: **${names.join('; ')}**. ${why}`)
    .join('\n');
}

function met({ goal }: Figure): boolean {
  return goal === undefined || isMet(targetOf(goal.target), goal.is);
}

function targetOf(name: TargetName): Target {
  return TARGETS[name];
}
