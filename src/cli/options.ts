import { Option } from 'commander';
import { OPTIONS } from '../config/options.ts';
import { PRIORITIES, type Priority } from '../model/payment.ts';
import type { Price } from '../model/prices/price.ts';
import { DELIVERY_EVENTS, type WebhookEvent } from '../model/webhooks/delivery.ts';
import { flag, optionWord, type Word } from './command.ts';
import { readAmount, readNames, readPrice } from './inputs.ts';

/** The note of a payment, as every command that makes one has it. */
export const noteFlag = flag('--note <text>', 'note that only you see');

/** The caller's own id of a payment, as every command that makes or receives one has it. */
export const externalIdFlag = flag(
  '--external-id <id>',
  'your own id for it, such as an order number, by which "payments" finds it; only you see it',
);

/** Returns the flag for a price in a currency, as every command has it that takes one. */
export function priceFlag(more: string): Word<Price | undefined> {
  const about = 'price in a currency in place of the amount, such as "12.50 EUR"';
  return flag('--price <price>', `${about}${more}`, readPrice);
}

/** The flag of every command that calls no sidecar and prints something. */
export const jsonFlag = flag('--json', 'print JSON');

/** The flag of every command that shows a table. */
export const wideFlag = flag(
  '--wide',
  'show every column and whole ids, however wide the terminal is',
);

/** Returns the flag for how soon a transaction should confirm. */
export function priorityFlag(fallback: Priority): Word<Priority | undefined> {
  return flag(
    '--priority <priority>',
    `on chain: how soon it should confirm, after about 1 block (high), 3 (normal) or 72 (background); ${fallback} unless given`,
    PRIORITIES,
  );
}

/** The cap on routing fees without --max-fee, for help. What is agreed on before is in the request. */
export const CAP_OF_SETTINGS = `where it asks before, ${OPTIONS.maxFee.env} as this command finds it, else 1%, never less than 10 sats; otherwise the setting of the sidecar`;

/** Returns the flag that bounds the fees of one payment. */
export function maxFeeFlag(about: string): Word<string | undefined> {
  return flag('--max-fee <sats>', about, readAmount);
}

/** Returns a flag that may be repeated and may hold several of these names, separated by commas. */
export function namesFlag<const T extends string>(
  form: string,
  about: string,
  names: readonly T[],
): Word<readonly T[] | undefined> {
  return optionWord(() => new Option(form, about).choices(names).argParser(readNames(names)));
}

/** The flag that bounds which events are sent. */
export const eventsFlag: Word<readonly WebhookEvent[] | undefined> = namesFlag(
  '--events <names>',
  'only these events, separated by commas (default: all)',
  DELIVERY_EVENTS,
);
