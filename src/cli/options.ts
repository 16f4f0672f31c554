import { Option } from 'commander';
import { OPTIONS } from '../config/options.ts';
import { DELIVERY_EVENTS } from '../model/delivery.ts';
import { PRIORITIES, type Priority } from '../model/payment.ts';
import { readAmount, readNames } from './inputs.ts';

/** Returns the flag for how soon a transaction should confirm. */
export function priorityOption(fallback: Priority): Option {
  return new Option(
    '--priority <priority>',
    `on chain: how soon it should confirm, after about 1 block (high), 3 (normal) or 72 (background); ${fallback} unless given`,
  ).choices(PRIORITIES);
}

/** The cap on routing fees without --max-fee, for help. What is agreed on before is in the request. */
export const CAP_OF_SETTINGS = `where it asks before, ${OPTIONS.maxFee.env} as this command finds it, else 1%, never less than 10 sats; otherwise the setting of the sidecar`;

/** Returns the flag that bounds the fees of one payment. */
export function maxFeeOption(description: string): Option {
  return new Option('--max-fee <sats>', description).argParser(readAmount);
}

/** Returns the flag that bounds which events are sent. */
export function eventsOption(): Option {
  return new Option('--events <names>', 'only these events, separated by commas (default: all)')
    .choices(DELIVERY_EVENTS)
    .argParser(readNames(DELIVERY_EVENTS));
}
