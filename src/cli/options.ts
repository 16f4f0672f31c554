import { Option } from 'commander';
import { PRIORITIES, type Priority } from '../model/payment.ts';
import { readAmount } from './inputs.ts';

/** Returns the flag for how soon a transaction should confirm. */
export function priorityOption(fallback: Priority): Option {
  return new Option(
    '--priority <priority>',
    `on chain: how soon it should confirm, after about 1 block (high), 3 (normal) or 72 (background); ${fallback} unless given`,
  ).choices(PRIORITIES);
}

/** Returns the flag that bounds the fees of one payment. */
export function maxFeeOption(description: string): Option {
  return new Option('--max-fee <sats>', description).argParser(readAmount);
}
