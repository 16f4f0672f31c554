import type { Note } from './figures.ts';
import type { LoadResult } from './load.ts';

/** How many pairs are made beside each other. */
const AT_ONCE = 8;

interface Paired {
  readonly makePair: () => Promise<void>;
  readonly ms: number;
  readonly floor: LoadResult;
}

/** Measures pairs of create_invoice and pay_invoice for `ms` milliseconds, against what they need at least. */
export async function measurePairs({ makePair, ms, floor }: Paired, note: Note): Promise<void> {
  const perSecond = await pairRate(makePair, ms);
  const share = perSecond / floor.perSecond;
  note('pairs of create_invoice and pay_invoice', `${Math.round(perSecond)}/s`, {
    beside: `${share.toFixed(2)} of ${Math.round(floor.perSecond)}/s, the loop`,
    goal: { target: 'pairs', is: share },
  });
}

/** How many pairs are made in a second, several beside each other. */
export async function pairRate(makePair: () => Promise<void>, ms: number): Promise<number> {
  const startedAt = performance.now();
  let pairs = 0;
  const makeSome = async () => {
    while (performance.now() - startedAt < ms) {
      await makePair();
      pairs++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return (pairs * 1000) / (performance.now() - startedAt);
}
