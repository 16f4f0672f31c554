import { z } from 'zod';
import { ApiError } from '../../../model/errors.ts';
import { addressMisfit } from '../../../model/made-for-receiving.ts';
import type { AddressType } from '../../../model/receive.ts';
import { keptRows } from '../../remote/place/kept-rows.ts';
import { readEveryCoin } from '../reads/coins.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnHandle } from '../reads/wallet.ts';
import { addressShape } from '../words/wire.ts';

/** The addresses that are handed out, by their types. */
const ADDRESSES = keptRows('cln_address', z.object({ address: z.string() }).nullable().catch(null));

/** Core Lightning's names of the address types. */
const NAME_OF = { segwit: 'bech32', taproot: 'p2tr' } as const satisfies Record<
  AddressType,
  string
>;

/** The receiving address until a payment to it is seen: a row of the store, as the node gives a new one each time. */
export function nextUnusedAddress(
  { rpc, owner, wallet }: ClnHandle,
  type: AddressType,
): Promise<string> {
  return wallet.locks.run(`address_${type}`, async () => {
    const known = await ADDRESSES.get(wallet, type);
    const misfit = (address: string) => addressMisfit(address, type, wallet);
    if (known && misfit(known.address) === null && !(await isPaid(owner, known.address)))
      return known.address;
    const name = NAME_OF[type];
    const made = await rpc.write('newaddr', { addresstype: name }, addressShape);
    const address = made[name];
    if (address === undefined) {
      throw new ApiError(
        'unreadable',
        'Core Lightning gave no address of the type that was asked for: check its version.',
      );
    }
    // What is no address of the wallet is not kept; the wallet does not hand it out (docs/decisions.md 160).
    if (misfit(address) !== null) return address;
    await ADDRESSES.put(wallet, type, { address });
    return address;
  });
}

async function isPaid(owner: ClnRpc, address: string): Promise<boolean> {
  return (await readEveryCoin(owner)).some((coin) => coin.address === address);
}
