import { expect } from 'bun:test';
import { CodecError } from '../../../src/codecs/codec-error.ts';
import { decodeDnsAnswer, parseDnsName, showDnsName } from '../../../src/codecs/dns/index.ts';
import { sortRecords } from '../../../src/net/dnssec/record-set.ts';
import { resolveTxt } from '../../../src/net/dnssec/resolve-txt.ts';
import { Unproven } from '../../../src/net/dnssec/unproven.ts';
import { answerBytes, type ServedRecord } from '../../support/dns-writer.ts';
import { rejection } from '../../support/rejection.ts';
import type { SignedTree } from '../../support/signed-tree.ts';

/** Proves the TXT records that a tree serves with the product's code: their texts and validity; null for none. */
export async function prove(tree: SignedTree, name: string, nowSecs = tree.nowSecs) {
  const found = await resolveTxt(parseDnsName(name), {
    source: async (asked, type) => {
      const question = { name: showDnsName(asked).replace(/^\.$/, ''), type };
      const bytes = answerBytes(question, tree.served(question.name, type));
      return sortRecords(decodeDnsAnswer(bytes).records);
    },
    anchors: tree.anchors,
    nowSecs,
  });
  if (found === null) return null;
  return {
    texts: found.texts.map((bytes) => Buffer.from(bytes).toString()),
    holdsSecs: found.holdsSecs,
  };
}

/** Expects that the records that a tree serves for a name are not proven, for this reason. */
export async function expectUnproven(
  tree: SignedTree,
  name: string,
  reason: RegExp,
  nowSecs?: number,
): Promise<void> {
  const error = await rejection(prove(tree, name, nowSecs));
  if (!(error instanceof Unproven)) throw error;
  expect(error.message).toMatch(reason);
}

/** Whether an error is one that forged records may cause. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Unproven || error instanceof CodecError;
}

/** Returns a record with one bit of its data changed. */
export function flipped(record: ServedRecord, byte: number): ServedRecord {
  const data = Buffer.from(record.data);
  data.writeUInt8((data.at(byte) ?? 0) ^ 1, byte < 0 ? data.length + byte : byte);
  return { ...record, data };
}
