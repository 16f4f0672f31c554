import { MAX_AMOUNT_MSAT, NETWORKS, type Network } from '../network.ts';
import { AMOUNT_UNITS, PICO_PER_MSAT } from './amount-units.ts';
import { invalid } from './invoice.ts';

/** Reads the human-readable part of an invoice in lower case: the network, and the amount in the unit of its letter. */
export function readPrefix(prefix: string): { network: Network; amountMsat: bigint | null } {
  const [, name = notOne(), digits, letter] = /^ln([a-z]+?)(?:(\d+)([munp]?))?$/.exec(prefix) ?? [];
  const network = networkOf(name) ?? invalid('its network is not supported');
  if (digits === undefined) return { network, amountMsat: null };
  const [pico] = AMOUNT_UNITS.find((unit) => unit[1] === letter) ?? notOne();
  const amountPico = BigInt(digits) * pico;
  const amountMsat = amountPico / PICO_PER_MSAT;
  if (amountPico % PICO_PER_MSAT !== 0n || amountMsat > MAX_AMOUNT_MSAT) notOne();
  if (amountMsat === 0n) invalid('its amount is zero');
  return { network, amountMsat };
}

/** Throws the CodecError('bolt11') of a text that is no invoice. */
export function notOne(): never {
  return invalid('it is not a BOLT 11 string, or part of it was lost in copying');
}

function networkOf(prefix: string): Network | undefined {
  return (Object.keys(NETWORKS) as Network[]).find(
    (network) => NETWORKS[network].bolt11Prefix === prefix,
  );
}
