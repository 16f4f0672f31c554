import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { type DnsRecord, parseDnsName, TYPE } from '../../src/codecs/dns/index.ts';
import { decodeHumanBitcoinAddress } from '../../src/codecs/human-bitcoin-address.ts';
import { createNameResolver } from '../../src/net/bip353.ts';
import { sortRecords } from '../../src/net/dnssec/record-set.ts';
import { resolveTxt } from '../../src/net/dnssec/resolve-txt.ts';
import { ROOT_ANCHORS } from '../../src/net/dnssec/root-anchors.ts';
import { parsePaymentString } from '../../src/wallet/strings/payment-string.ts';
import { rejection } from '../support/rejection.ts';
import vectors from '../vectors/bip353-proofs.json';
import { isRefusal } from './dnssec/prove.ts';
import { readProof } from './rfc9102.ts';

/** Returns the URI that a set of records proves for a name at noon of a day. */
async function resolve(
  hrn: string,
  records: readonly DnsRecord[],
  day: string,
  anchors = ROOT_ANCHORS,
): Promise<string> {
  const carried = sortRecords(records);
  const resolveName = createNameResolver({
    resolveTxt: async (name) => {
      const source = async () => carried;
      const nowSecs = Date.parse(`${day}T12:00:00Z`) / 1000;
      const found = await resolveTxt(parseDnsName(name), { source, anchors, nowSecs });
      return found?.texts ?? null;
    },
    localZone: async () => null,
  });
  return resolveName(decodeHumanBitcoinAddress(hrn));
}

/** Returns the message of the error that the work throws; fails when it throws none or an unexpected one. */
async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await rejection(work);
  if (!isRefusal(error)) throw error;
  return (error as Error).message;
}

const REASONS: Readonly<Record<string, RegExp>> = {
  'missing-nsec3': /answered from a wildcard, without proof/,
};
const proofs = vectors.proofs.map((vector) => ({ ...vector, ...readProof(vector.psbt_value_hex) }));
const [simple] = proofs;
if (!simple) throw new Error('there are no proofs');

describe('the proofs of BIP 353', () => {
  for (const { id, valid, hrn, records, valid_on, address } of proofs) {
    test(`${id} ${valid ? 'holds' : 'is refused for its reason'}`, async () => {
      // The invalid vector names no day. It is from the same days as the others.
      const proof = resolve(hrn, records, valid_on ?? simple.valid_on ?? '');
      if (!valid) return expect(await refusalOf(proof)).toMatch(REASONS[id] ?? 'no reason');
      const { methods } = parsePaymentString(await proof);
      const named = methods.map((method) => method.kind === 'onchain' && method.address.canonical);
      expect(named).toEqual([address.toLowerCase()]);
    });
  }
});

describe('a proof of BIP 353', () => {
  const { hrn, records, valid_on: day = '' } = simple;

  test('holds in any order of its records, and not before or after its days', async () => {
    const uri = await resolve(hrn, records, day);
    expect(await resolve(hrn, records.toReversed(), day)).toBe(uri);
    expect(await refusalOf(resolve(hrn, records, '2025-06-01'))).toMatch(/not valid yet/);
    expect(await refusalOf(resolve(hrn, records, '2025-10-01'))).toMatch(/has expired/);
  });

  test('is of one name only', async () => {
    const failure = rejection(resolve(`other@${hrn.split('@')[1]}`, records, day));
    expect(await failure).toMatchObject({ kind: 'notFound' });
  });

  test('begins at a key of the root, of which both are in the root as it was signed then', async () => {
    const [first, second] = ROOT_ANCHORS;
    const rootKeys = records.filter(({ name, type }) => name.length === 0 && type === TYPE.DNSKEY);
    const digests = rootKeys.map(({ data }) =>
      createHash('sha256').update(Uint8Array.of(0)).update(data).digest('hex'),
    );
    for (const anchor of [first, second]) {
      expect(digests).toContain(Buffer.from(anchor?.digest ?? []).toString('hex'));
    }
    expect(await resolve(hrn, records, day, first ? [first] : [])).toStartWith('bitcoin:');
    // The key of 2024 was published then, but did not sign yet.
    const early = resolve(hrn, records, day, second ? [second] : []);
    expect(await refusalOf(early)).toMatch(/\. is signed with a key that \. does not have/);
    expect(await refusalOf(resolve(hrn, records, day, []))).toMatch(/keys of \. are not those/);
  });

  test('with any record left out is refused or shows no payment', async () => {
    for (const at of records.keys()) {
      const error = await rejection(resolve(hrn, records.toSpliced(at, 1), day));
      if (!isRefusal(error)) expect(error).toMatchObject({ kind: 'notFound' });
    }
  });

  test('with a bit changed anywhere is refused or shows the same', async () => {
    const uri = await resolve(hrn, records, day);
    for (const [at, record] of records.entries()) {
      for (let byte = 0; byte < record.data.length; byte += 3) {
        const data = Uint8Array.from(record.data);
        data[byte] = (data[byte] ?? 0) ^ (1 << (byte % 8));
        const found = await resolve(hrn, records.with(at, { ...record, data }), day).catch(
          (error) => {
            if (!isRefusal(error)) expect(error).toMatchObject({ kind: 'notFound' });
          },
        );
        if (found !== undefined) expect(found).toBe(uri);
      }
    }
  });
});
