import { z } from 'zod';
import { formatAmountMsat } from '../model/amount.ts';
import { msatOfPrice, type Price } from '../model/prices/price.ts';
import type { AskSidecar } from './http.ts';

/** Returns what a price is worth at the present rate, in sats. */
export async function worthOf(ask: AskSidecar, price: Price): Promise<string> {
  const { value } = await ask(
    (sidecar) => sidecar.rate({ currency: price.currency }),
    z.object({ rate: z.string() }),
  );
  return formatAmountMsat(msatOfPrice(price, value.rate, 'payer'));
}
