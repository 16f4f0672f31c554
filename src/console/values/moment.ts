/** Returns a time for people, in the time zone and words of this machine. */
export function momentText(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Returns a time as short as people need it at `nowMs`: the year only where it is another. */
export function shortMoment(ms: number, nowMs: number): string {
  const isThisYear = new Date(ms).getFullYear() === new Date(nowMs).getFullYear();
  return new Date(ms).toLocaleString(undefined, {
    ...(isThisYear ? {} : { year: 'numeric' }),
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  });
}

/** Returns a day for people, such as `Nov 22`. */
export function dayText(ms: number): string {
  return new Date(ms).toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
}
