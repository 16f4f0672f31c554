/** Returns how many percent of a whole a part is, exact to a tenth, from 0 to 100. A whole of nothing has no parts. */
export function percentOf(partMsat: bigint, wholeMsat: bigint): number {
  if (wholeMsat <= 0n) return 0;
  const share = Number((partMsat * 1000n) / wholeMsat) / 10;
  return Math.min(100, Math.max(0, share));
}
