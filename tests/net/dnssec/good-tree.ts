import { longTxtData, type ServedRecord, TYPES } from '../../support/dns-writer.ts';
import { openSignedTree, type SignedTree } from '../../support/signed-tree.ts';

/** The time at which the trees are signed: seconds since 1970. */
export const NOW = 1_800_000_000;
/** The name that has the record in {@link goodTree}. */
export const NAME = 'matt.user._bitcoin-payment.example.com';
/** The text of that record. */
export const PAYMENT = 'bitcoin:?lno=x';

/** Returns a tree of the root, com and example.com, with one payment record. */
export function goodTree(): SignedTree {
  const tree = openSignedTree({ nowSecs: NOW });
  tree.zone('com');
  tree.zone('example.com');
  tree.txt(NAME, [PAYMENT]);
  return tree;
}

/** Returns TXT records of a name, without signatures. */
export const txt = (name: string, ...texts: string[]): ServedRecord[] =>
  texts.map((text) => ({ name, type: TYPES.TXT, ttl: 60, data: longTxtData(text) }));

/** Changes the answer to one question. */
export function change(
  tree: SignedTree,
  [name, type]: readonly [string, number],
  to: (records: readonly ServedRecord[]) => readonly ServedRecord[],
): void {
  tree.serve(name, type, to(tree.served(name, type)));
}

/** Changes the records of one type, or leaves them out. */
export const ofType =
  (type: number, to: (record: ServedRecord) => ServedRecord | null) =>
  (records: readonly ServedRecord[]) =>
    records.flatMap((record) => (record.type === type ? (to(record) ?? []) : record));
