/** Returns a time for people, in the time zone and words of this machine. */
export function momentText(ms: number): string {
  return unbroken(
    new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  );
}

/** Returns a time with its time zone, for what begins by the clock of another place. It does not break in a line. */
export function zonedMoment(ms: number): string {
  const words = new Date(ms).toLocaleString(undefined, {
    ...SHORT,
    year: 'numeric',
    timeZoneName: 'short',
  });
  return onOneLine(words);
}

function onOneLine(words: string): string {
  return words.replace(/\s/g, '\u00a0');
}

/** Keeps a time and the half of the day behind it, such as PM, on one line. */
function unbroken(moment: string): string {
  return moment.replace(/\s(?=\P{Nd}+$)/u, '\u00a0');
}

const DAY = { month: 'short', day: 'numeric' } as const;
const SHORT = { ...DAY, hour: 'numeric', minute: '2-digit' } as const;

/** Returns the time of a day for people, such as `4:29 PM`. */
export function clockText(ms: number): string {
  return unbroken(
    new Date(ms).toLocaleTimeString(undefined, { hour: 'numeric', minute: '2-digit' }),
  );
}

/** Returns a day for people with its weekday: the year only where it is another than that of `nowMs`. */
export function longDay(ms: number, nowMs: number): string {
  const isThisYear = new Date(ms).getFullYear() === new Date(nowMs).getFullYear();
  const named = { ...DAY, weekday: 'long' } as const;
  return new Date(ms).toLocaleDateString(
    undefined,
    isThisYear ? named : { ...named, year: 'numeric' },
  );
}

/** Returns a day for people, such as `Nov 22`. */
export function dayText(ms: number): string {
  return new Date(ms).toLocaleDateString(undefined, DAY);
}

/** Returns the time that a person typed, such as `2027-01-31T12:30` on this machine's clock; null for none. */
export function typedMoment(typed: string): number | null {
  const ms = typed === '' ? Number.NaN : new Date(typed).getTime();
  return Number.isNaN(ms) ? null : ms;
}

/** Returns a time for people to the second, in the time zone and words of this machine. It does not break in a line. */
export function exactMoment(ms: number): string {
  return onOneLine(
    new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }),
  );
}

/** Returns how many whole seconds there are from `nowMs` to `ms`, rounded up; 0 for a time that is over. */
export function secondsUntil(ms: number, nowMs: number): number {
  return Math.max(0, Math.ceil((ms - nowMs) / 1000));
}
