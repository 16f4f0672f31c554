import { join } from 'node:path';
import { quantile } from '../compared.ts';
import { startLnbits } from '../lnbits.ts';
import { pairRate } from '../pairs.ts';
import { makePair, newWallet, startSandbox } from '../sandbox.ts';
import { setting } from '../settings.ts';
import type { Bench } from './part.ts';

/** How many times each side is measured, by turns. */
const ROUNDS = 5;

/**
 * Measures pairs of an invoice and its payment between two wallets, beside LNbits with its FakeWallet. Measures nothing
 * if the program `lnbits` is not on PATH, and says so.
 */
export async function measureLnbits({ note, folder }: Bench): Promise<void> {
  const program = Bun.which('lnbits');
  if (program === null) {
    console.warn('SKIPPED: lnbits was not found on PATH, so nothing is measured beside it.');
    return;
  }
  const lnbits = await startLnbits(program, join(folder, 'lnbits'));
  const { call, stop } = await startSandbox(join(folder, 'data'));
  try {
    const payer = await newWallet(call);
    const own: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      own.push(await pairRate(async () => void (await makePair(call, payer)), setting('BENCH_MS')));
      theirs.push(await pairRate(lnbits.makePair, setting('BENCH_MS')));
    }
    const times = quantile(
      own.map((perSecond, round) => perSecond / (theirs[round] ?? 0)),
      0.5,
    );
    note(
      'pairs between two wallets',
      `${quantile(own, 0.5).toFixed(0)}/s, ${times.toFixed(1)} times`,
      {
        beside: `${quantile(theirs, 0.5).toFixed(1)}/s, LNbits ${lnbits.version} with its FakeWallet`,
        goal: { target: 'lnbits', is: times },
      },
    );
  } finally {
    await stop();
    await lnbits.stop();
  }
}
