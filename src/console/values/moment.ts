/** Returns a time for people, in the time zone and words of this machine. */
export function momentText(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Returns a day for people, such as `Nov 22`. */
export function dayText(ms: number): string {
  return new Date(ms).toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
}
