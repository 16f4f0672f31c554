import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { encodeBigSize } from '../src/codecs/bigsize.ts';
import { decodeBolt12String, encodeBolt12String } from '../src/codecs/bolt12/index.ts';
import { decodeTlvStream, encodeTlvStream, joinBytes, type TlvRecord } from '../src/codecs/tlv.ts';
import { signStream } from '../tests/support/bolt12-fixtures.ts';
import type { Dice } from './dice.ts';
import { mutateBytes, mutateText, nastyText } from './text.ts';

type Bolt12Prefix = Parameters<typeof encodeBolt12String>[0];
type SignatureSubject = Parameters<typeof signStream>[1];

const base58check = createBase58check(sha256);

/** Ways to make one input: from a valid string, by a grammar, or at random. */
export function textInput(
  dice: Dice,
  seeds: readonly string[],
  grammar: (dice: Dice, seed: string) => string,
): string {
  const kind = dice.below(20);
  if (kind === 0) return dice.pick(seeds);
  if (kind === 1) return nastyText(dice);
  if (kind === 2) return longText(dice, dice.pick(seeds));
  if (kind < 9) return mutateText(dice, dice.pick(seeds));
  return grammar(dice, dice.pick(seeds));
}

/** Repeats a text or a part of it up to some ten thousand characters, to find readers that are slow on long inputs. */
function longText(dice: Dice, seed: string): string {
  const part = dice.chance(0.5) ? seed : seed.slice(0, 1 + dice.below(12));
  return (
    seed.slice(0, 6) + part.repeat(1 + Math.floor(dice.below(20_000) / (part.length + 1)))
  ).slice(0, 20_000);
}

/** Returns a bech32 text with changed data and a new checksum, without which the change would not be read. */
export function resealBech32(dice: Dice, text: string): string {
  const decoded = bech32.decodeUnsafe(text, false) ?? bech32m.decodeUnsafe(text, false);
  if (!decoded) return mutateText(dice, text);
  const words = changeWords(dice, decoded.words);
  const prefix = dice.chance(0.1) ? changePrefix(dice, decoded.prefix) : decoded.prefix;
  return (dice.chance(0.8) ? bech32 : bech32m).encode(prefix, words, false);
}

function changePrefix(dice: Dice, prefix: string): string {
  const changed = `${prefix}${dice.pick(['', '1', '10u', '25m', '1p', '10p', '9'.repeat(30), '0', 'x'])}`;
  return dice.chance(0.5)
    ? changed
    : `ln${dice.pick(['bc', 'tb', 'tbs', 'bcrt', 'zz'])}${dice.below(1000)}${dice.pick(['', 'm', 'u', 'n', 'p', 'q'])}`;
}

function changeWords(dice: Dice, words: readonly number[]): number[] {
  const changed = [...words];
  for (let changes = 1 + dice.below(3); changes > 0; changes--) {
    const at = dice.below(changed.length + 1);
    const kind = dice.below(5);
    if (kind === 0 && at < changed.length) changed[at] = dice.below(32);
    else if (kind === 1) changed.splice(at, 1 + dice.below(5));
    else if (kind === 2)
      changed.splice(at, 0, ...Array.from({ length: 1 + dice.below(5) }, () => dice.below(32)));
    else if (kind === 3) changed.splice(Math.min(7, changed.length), 0, ...taggedField(dice));
    else changed.splice(0, changed.length, ...changed.slice(0, at));
  }
  return changed;
}

/** Returns a BOLT 11 field: type, length, data. The length is sometimes wrong. */
function taggedField(dice: Dice): number[] {
  const length = dice.pick([0, 1, 2, 52, 53, dice.below(90)]);
  const said = dice.chance(0.1) ? dice.below(1024) : length;
  const data = Array.from({ length }, () => dice.below(32));
  return [dice.below(32), said >> 5, said & 31, ...data];
}

/** Returns a base58 text with changed bytes and a new checksum. */
export function resealBase58(dice: Dice, text: string): string {
  try {
    return base58check.encode(mutateBytes(dice, base58check.decode(text)));
  } catch {
    return mutateText(dice, text);
  }
}

/** One kind of BOLT 12 document: its prefix and how it is signed; `sign` is null for one without a signature. */
export interface Bolt12Grammar {
  readonly prefix: Bolt12Prefix;
  readonly sign: { readonly subject: SignatureSubject; readonly secretKey: Uint8Array } | null;
}

/** Returns a BOLT 12 string with changed records, sometimes signed again, written in one of the allowed ways. */
export function bolt12Text(dice: Dice, seed: string, grammar: Bolt12Grammar): string {
  const text = encodeBolt12String(grammar.prefix, bolt12Bytes(dice, seed, grammar));
  if (dice.chance(0.8)) return text;
  const at = 5 + dice.below(text.length);
  const joined = `${text.slice(0, at)}+${dice.pick(['', ' ', '\n\t', ' \r\n'])}${text.slice(at)}`;
  return dice.chance(0.5) ? joined : joined.toUpperCase();
}

function bolt12Bytes(dice: Dice, seed: string, { prefix, sign }: Bolt12Grammar): Uint8Array {
  const records = recordsOf(seed, prefix);
  if (records === null) return dice.bytes(dice.below(60));
  if (dice.chance(0.2)) return mutateBytes(dice, encodeTlvStream(records));
  const changed = changeRecords(dice, records);
  if (sign && changed.some(({ type }) => type !== 240n) && dice.chance(0.15)) {
    return signStream(changed, sign.subject, sign.secretKey);
  }
  return dice.chance(0.9) ? encodeTlvStream(changed) : looseStream(dice, changed);
}

function recordsOf(text: string, prefix: Bolt12Prefix): TlvRecord[] | null {
  const refuse = (problem: string): never => {
    throw new RangeError(problem);
  };
  try {
    return decodeTlvStream(decodeBolt12String(text, prefix, refuse), refuse);
  } catch {
    return null;
  }
}

function changeRecords(dice: Dice, records: readonly TlvRecord[]): TlvRecord[] {
  let changed = [...records];
  for (let changes = 1 + dice.below(3); changes > 0; changes--) {
    const at = dice.below(changed.length + 1);
    const record = changed[at];
    const kind = dice.below(6);
    if (kind === 0) changed.splice(at, 1);
    else if (kind === 1 && record)
      changed[at] = { ...record, value: mutateBytes(dice, record.value) };
    else if (kind === 2 && record) changed[at] = { ...record, type: anyType(dice) };
    else if (kind === 3 && record) changed.splice(at, 0, record);
    else changed.push({ type: anyType(dice), value: anyValue(dice) });
    if (dice.chance(0.9)) changed = changed.toSorted((a, b) => (a.type < b.type ? -1 : 1));
  }
  return changed;
}

const KNOWN_TYPES = [
  0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 80, 82, 84, 86, 88, 89, 90, 91, 160, 162, 164, 166,
  168, 170, 172, 174, 176, 240, 241, 1000, 1001, 1002, 1003, 1004, 1005,
];

function anyType(dice: Dice): bigint {
  const kind = dice.below(4);
  if (kind < 2) return BigInt(dice.pick(KNOWN_TYPES));
  if (kind === 2) return BigInt(dice.below(300));
  return dice.pick([
    999_999_999n,
    1_000_000_000n,
    1_000_000_001n,
    3_999_999_999n,
    (1n << 64n) - 1n,
  ]);
}

function anyValue(dice: Dice): Uint8Array {
  const kind = dice.below(6);
  if (kind === 0) return new Uint8Array();
  if (kind === 1) return new TextEncoder().encode(nastyText(dice).slice(0, 200));
  if (kind === 2) return dice.bytes(dice.pick([1, 2, 4, 8, 9, 32, 33, 64, 65]));
  if (kind === 3) return new Uint8Array(8).fill(0xff);
  return dice.bytes(dice.below(60));
}

/** Returns a stream with wrong lengths, or lengths that are not minimal. */
function looseStream(dice: Dice, records: readonly TlvRecord[]): Uint8Array {
  return joinBytes(
    records.map(({ type, value }) => {
      const length = BigInt(dice.chance(0.1) ? dice.below(100_000) : value.length);
      const written = dice.chance(0.1)
        ? Uint8Array.of(0xfd, 0, value.length & 0xff)
        : encodeBigSize(length);
      return joinBytes([encodeBigSize(type), written, value]);
    }),
  );
}
