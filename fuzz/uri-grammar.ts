import type { Dice } from './dice.ts';
import { nastyText, randomText } from './text.ts';

/** Returns a `bitcoin:` URI with random parameters. */
export function uriText(dice: Dice, seed: string): string {
  const name = () =>
    dice.pick([
      'amount',
      'label',
      'message',
      'lightning',
      'lno',
      'pop',
      'bc',
      'tb',
      'bcrt',
      'AMOUNT',
      'req-amount',
      'req-lightning',
      'req-pop',
      'req-x',
      'x',
      '',
      '%41mount',
      '%',
    ]);
  const value = () =>
    dice.pick([
      '1',
      '0',
      '0.00000001',
      '.1',
      '1.',
      '21000000.00000001',
      '99999999',
      '-1',
      '1e3',
      '%',
      '%e2%82%bf',
      '%00',
      '+',
      nastyText(dice),
      randomText(dice, dice.below(20)),
      encodeURIComponent(seed.slice(0, 40)),
    ]);
  const parameters = Array.from(
    { length: dice.below(6) },
    () => `${name()}${dice.pick(['=', '=', '=', '', '=='])}${value()}`,
  );
  const body = dice.pick([
    '',
    seed.replace(/^bitcoin:|\?.*$/gi, ''),
    nastyText(dice),
    addressText(dice),
    encodeURIComponent(addressText(dice).toWellFormed()),
  ]);
  const scheme = dice.pick(['bitcoin:', 'BITCOIN:', 'bitcoin://', 'lightning:bitcoin:', '']);
  const fragment = dice.pick(['', '', '#', `#${nastyText(dice)}`]);
  return `${scheme}${body}?${parameters.join(dice.pick(['&', '&', '&&', ';']))}${fragment}`;
}

/** Returns a `name@host` with a random name and host. */
export function addressText(dice: Dice): string {
  const name = dice.pick([
    'satoshi',
    'a',
    'a.b',
    '-a',
    'a-',
    'A',
    'a+b',
    'a'.repeat(64),
    'a'.repeat(65),
    nastyText(dice),
    randomText(dice, dice.below(10)),
  ]);
  return `${dice.pick(['', '₿', '₿₿'])}${name}${dice.pick(['@', '@', '@', '@@', ''])}${hostText(dice)}`;
}

/** Returns a text that is a host or resembles one. */
export function hostText(dice: Dice): string {
  const label = () =>
    dice.pick([
      'a',
      'example',
      '127',
      '0',
      'xn--a',
      '-a',
      'a-',
      '',
      'a'.repeat(63),
      'a'.repeat(64),
      randomText(dice, dice.below(6)),
    ]);
  const name = dice.pick([
    'localhost',
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[',
    '999.1.1.1',
    'abc.onion',
    Array.from({ length: 1 + dice.below(5) }, label).join('.'),
    'a.'.repeat(130),
  ]);
  return `${name}${dice.pick(['', '', ':80', ':0', ':99999', ':999999', ':', ':a', '/x', '?', '#'])}`;
}

/** Returns a text that is a URL or resembles one. */
export function urlText(dice: Dice): string {
  const scheme = dice.pick([
    'https',
    'http',
    'lnurlp',
    'lnurlw',
    'lnurlc',
    'keyauth',
    'LNURLP',
    'ftp',
    'file',
    'data',
    'javascript',
  ]);
  const user = dice.chance(0.1) ? 'user:pass@' : '';
  const query = dice.pick([
    '',
    '?tag=login',
    '?tag=payRequest',
    '?lightning=lnurl1abc',
    '?a=%',
    `?${nastyText(dice)}`,
  ]);
  return `${scheme}${dice.pick(['://', ':', ':/', ''])}${user}${hostText(dice)}/${randomText(dice, dice.below(8))}${query}`;
}
