/** Returns a time for people to read, such as `1 second` or `10 seconds`. */
export function inSeconds(secs: number): string {
  return secs === 1 ? '1 second' : `${secs} seconds`;
}
