import { base64urlnopad } from '@scure/base';
import { amountInput, formatAmountMsat, parseAmountMsat } from '../src/model/amount.ts';
import {
  type Credentials,
  decodeCredentials,
  encodeClientCredentials,
  encodeNodeCredentials,
} from '../src/model/credentials.ts';
import {
  idOfIndex,
  paymentIndex,
  paymentIndexInput,
  updatedAtOfIndex,
  updatedIndexInput,
} from '../src/model/payment-index.ts';
import { parseRootSeed, rootSeedPhrase } from '../src/model/root-seed.ts';
import { type CodecTarget, target, texts } from './codec-target.ts';
import type { Dice } from './dice.ts';
import { mutateText, nastyText } from './text.ts';

const CLIENT = { client: 'ab'.repeat(32), secret: 'cd'.repeat(32) };
const LND = { kind: 'lnd', url: 'https://127.0.0.1:8080', cert: null } as const;
const NODE = { ...LND, nodePk: `02${'ab'.repeat(32)}`, network: 'regtest' } as const;
const CREDENTIALS = [
  encodeClientCredentials(CLIENT),
  encodeNodeCredentials({ ...NODE, token: 'cd'.repeat(100) }),
  // The form of version 0.1.
  ...[{ kind: 'sandbox' }, LND].map((node) =>
    base64urlnopad.encode(
      new TextEncoder().encode(JSON.stringify({ v: 1, node, ...CLIENT, secret: 'cd'.repeat(100) })),
    ),
  ),
];
const ID = `ln_${'0a'.repeat(32)}`;
const TIMES = [
  '0001764000000000000',
  '0000000000000000000',
  '0009007199254740991',
  '0009999999999999999',
  '-000000000000000001',
];

/** Readers of this project's own formats. */
export const MODEL_TARGETS: readonly CodecTarget[] = [
  target(
    'payment index',
    4,
    (dice) =>
      dice.chance(0.5)
        ? mutateText(dice, `${dice.pick(TIMES)}-${ID}`)
        : `${dice.pick(TIMES)}-${ID}`,
    (text) => {
      const index = paymentIndexInput().safeParse(text);
      return index.success
        ? [text.toLowerCase(), paymentIndex(Number(text.slice(0, 19)), idOfIndex(index.data))]
        : null;
    },
  ),
  target(
    'updated index',
    4,
    (dice) =>
      dice.chance(0.5)
        ? mutateText(dice, `u${dice.pick(TIMES)}-${ID}`)
        : `u${dice.pick(TIMES)}-${ID}`,
    (text) => {
      const index = updatedIndexInput().safeParse(text);
      return index.success ? [Number(text.slice(1, 20)), updatedAtOfIndex(index.data)] : null;
    },
  ),
  target(
    'amount',
    4,
    (dice) => amountText(dice),
    (text) => {
      for (const value of [Number(text), [text], { text }, null]) amountInput().safeParse(value);
      const amountMsat = parseAmountMsat(text);
      return amountMsat === null
        ? null
        : [amountMsat, parseAmountMsat(formatAmountMsat(amountMsat))];
    },
  ),
  target('credentials', 4, texts(CREDENTIALS, credentialsText), (text) => {
    const credentials = decodeCredentials(text);
    return credentials && [writable(credentials), reread(credentials)];
  }),
  target(
    'root seed',
    2,
    texts(['5a'.repeat(32), rootSeedPhrase(new Uint8Array(32).fill(7))], mutateText),
    (text) => {
      const seed = parseRootSeed(text);
      return seed && [seed, parseRootSeed(rootSeedPhrase(seed))];
    },
  ),
];

/** Returns the parts of credentials that this version can write; credentials of version 0.1 may hold others. */
function writable({ client, node }: Credentials): Credentials {
  return {
    client: client?.secret.length === 64 ? client : null,
    node: node?.nodePk ? node : null,
  };
}

/** Writes the result of {@link writable} and reads it again. */
function reread(credentials: Credentials): Credentials {
  const { client, node } = writable(credentials);
  const nodePk = node?.nodePk;
  const network = node?.network;
  return {
    client: client && (decodeCredentials(encodeClientCredentials(client))?.client ?? null),
    node:
      node && nodePk && network
        ? (decodeCredentials(encodeNodeCredentials({ ...node, nodePk, network }))?.node ?? null)
        : null,
  };
}

function amountText(dice: Dice): string {
  const digits = () => String(dice.below(10 ** (1 + dice.below(9))));
  const text = `${digits()}${dice.pick(['', '', digits(), '0'.repeat(dice.below(20))])}${dice.pick(['', '.', ','])}${dice.pick(['', '0', '1', '25', '125', '1250'])}`;
  return dice.chance(0.6) ? text : dice.chance(0.5) ? mutateText(dice, text) : nastyText(dice);
}

function credentialsText(dice: Dice, seed: string): string {
  const json = new TextDecoder().decode(base64urlnopad.decode(seed));
  const changed = dice.chance(0.3)
    ? json.replace(
        /"(v|node|kind|client|secret|url|cert|pk|network|token)":/,
        () => `"${dice.pick(['v', 'node', '__proto__', 'kind'])}":`,
      )
    : mutateText(dice, json);
  return base64urlnopad.encode(new TextEncoder().encode(changed));
}
