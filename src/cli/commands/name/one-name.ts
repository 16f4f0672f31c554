import { z } from 'zod';
import { printable } from '../../terminal/printable.ts';

/** The answer about a name, as far as the command line shows it. */
export const nameJson = z.object({
  human_bitcoin_address: z.string(),
  lightning_address: z.string(),
  offer: z
    .string()
    .regex(/^lno1[0-9a-z]+$/i)
    .nullable(),
  updatable: z.boolean(),
});

/** Shows a name to a person. A name without an offer has no BIP 353 record, so payers use its Lightning Address. */
export function nameLines(name: z.output<typeof nameJson>): string[] {
  const { human_bitcoin_address, lightning_address, offer, updatable } = name;
  return [
    ...(offer === null ? [] : [printable(human_bitcoin_address)]),
    printable(lightning_address),
    updatable ? 'It can be changed now.' : 'It cannot be changed now.',
  ];
}
