import type { Note } from './endurance.ts';
import type { LoadResult } from './load.ts';

/** How many pairs are made beside each other. */
const AT_ONCE = 8;
/** The least share of the floor. */
const LEAST = 0.6;

/** Measures pairs of create_invoice and pay_invoice for `ms` milliseconds, against what they need at least. */
export async function measurePairs(
  {
    makePair,
    ms,
    floor,
  }: { readonly makePair: () => Promise<void>; readonly ms: number; readonly floor: LoadResult },
  note: Note,
): Promise<void> {
  const startedAt = performance.now();
  let pairs = 0;
  const makeSome = async () => {
    while (performance.now() - startedAt < ms) {
      await makePair();
      pairs++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  const perSecond = (pairs * 1000) / (performance.now() - startedAt);
  const share = perSecond / floor.perSecond;
  const value = `${Math.round(perSecond)}/s; ratio ${share.toFixed(2)} to the loop`;
  note('pairs of create_invoice and pay_invoice', value, `${LEAST}`, share >= LEAST);
}
