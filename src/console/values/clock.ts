/** Returns the time of this browser in milliseconds since the UNIX epoch. */
export const nowMs = (): number => Date.now();
