import type { Parsed } from '../parsed.ts';

/** A service that says what one bitcoin costs (docs/decisions.md 197). */
export interface RateSource {
  /** What payments keep: the name of a built-in source, or the host of the URL. */
  readonly name: string;
  /** Where it is asked; {@link CURRENCY} stands for the currency. */
  readonly url: string;
  /** Where the number is in the answer, as JSON pointers: the first that leads to something counts. */
  readonly pointers: readonly string[];
}

/** Stands in URLs and pointers for the code of the currency, in capitals and in small letters. */
const CURRENCY = { capital: '{currency}', small: '{currency_small}' } as const;

/** The built-in sources. Where the answer names the currency, so does the pointer, and another one is not found. */
const BUILT_IN: readonly RateSource[] = [
  {
    name: 'kraken',
    url: `https://api.kraken.com/0/public/Ticker?pair=XBT${CURRENCY.capital}`,
    // Kraken puts X and Z before the names of pairs that are older than others.
    pointers: [`/result/XXBTZ${CURRENCY.capital}/c/0`, `/result/XBT${CURRENCY.capital}/c/0`],
  },
  {
    name: 'coinbase',
    url: 'https://api.coinbase.com/v2/exchange-rates?currency=BTC',
    pointers: [`/data/rates/${CURRENCY.capital}`],
  },
  {
    name: 'bitstamp',
    url: `https://www.bitstamp.net/api/v2/ticker/btc${CURRENCY.small}/`,
    pointers: ['/last'],
  },
  {
    name: 'bitfinex',
    url: `https://api-pub.bitfinex.com/v2/ticker/tBTC${CURRENCY.capital}`,
    pointers: ['/6'],
  },
];

const FORM = `must be one of ${BUILT_IN.map(({ name }) => name).join(', ')}, or a URL with ${CURRENCY.capital} and, behind a #, the place of the number as a JSON pointer, such as https://rates.example/${CURRENCY.capital}.json#/price`;

/** Reads a source as the configuration names it. */
export function parseRateSource(text: string): Parsed<RateSource> {
  const builtIn = BUILT_IN.find(({ name }) => name === text.toLowerCase());
  if (builtIn) return { value: builtIn };
  const [url = '', pointer = '', ...more] = text.split('#');
  const parsed = URL.parse(url);
  const fits =
    parsed !== null &&
    ['https:', 'http:'].includes(parsed.protocol) &&
    // A host with the currency in it is no name that a certificate could be checked for.
    !parsed.host.includes('currency') &&
    more.length === 0 &&
    /^(?:\/(?:[^~/]|~[01])*)+$/.test(pointer) &&
    Object.values(CURRENCY).some((place) => text.includes(place));
  return fits ? { value: { name: parsed.hostname, url, pointers: [pointer] } } : { problem: FORM };
}

/** Returns the source with the currency in its URL and pointers. */
export function forCurrency({ name, url, pointers }: RateSource, currency: string): RateSource {
  const filled = (text: string) =>
    text.replaceAll(CURRENCY.capital, currency).replaceAll(CURRENCY.small, currency.toLowerCase());
  return { name, url: filled(url), pointers: pointers.map(filled) };
}
