import { hkdfSync, timingSafeEqual } from 'node:crypto';
import type { SignedTable } from './signed-tables.ts';

/** A value of a column, in the form that both engines share: amounts as decimal text, truth values as 0 or 1. */
export type Field = string | number | null;

type SignedRow<Column extends string> = Readonly<Record<Column, Field>> & {
  readonly mac: string | null;
};

/** A row that is not as this store wrote it. */
export interface UnfitRow {
  readonly table: string;
  /** The values of its key, joined with a space. */
  readonly id: string;
}

/**
 * Makes and checks the MAC of rows, so that somebody who can write the database and has no key cannot have a row used
 * that this store did not write (docs/decisions.md 171).
 */
export interface RowSigner {
  /** Returns the MAC of a row in its place; null for a store without a key. */
  mac<Column extends string>(
    table: SignedTable<Column>,
    row: Readonly<Record<Column, Field>>,
  ): string | null;
  /** Whether a row is as it was written, in its place. Tells of one that is not. Without a key every row is. */
  fits<Column extends string>(table: SignedTable<Column>, row: SignedRow<Column>): boolean;
  /** Tells of a row that cannot even be read, such as one whose sealed value was changed. */
  tell(row: UnfitRow): void;
}

const MAC_BYTES = 16;

/**
 * Returns the signer of the store with that id. The MACs are HMAC-SHA256, of which 16 bytes are kept, by a key derived
 * from the 32-byte secrets key and the store's id. `onUnfit` is called for each row that does not fit.
 */
export function rowSigner(
  secretsKey: Uint8Array,
  storeId: string,
  onUnfit: (row: UnfitRow) => void,
): RowSigner {
  const key = Buffer.from(hkdfSync('sha256', secretsKey, storeId, 'wallet-sidecar/row-mac', 32));
  const keyed = new Bun.CryptoHasher('sha256', key);
  const mac: RowSigner['mac'] = ({ table, key: names, columns, later, lowest }, row) => {
    let text = table;
    for (const name of names) text += lengthAndValue(row[name]);
    for (const name of columns) {
      const value = row[name];
      if (later.includes(name)) {
        if (value !== null) text += `+${name}${lengthAndValue(value)}`;
        continue;
      }
      text += lengthAndValue(
        name === lowest?.column ? Math.max(Number(value), lowest.value) : value,
      );
    }
    return keyed.copy().update(text).digest().toString('base64url', 0, MAC_BYTES);
  };
  return {
    mac,
    fits(table, row) {
      if (isSame(mac(table, row) ?? '', row.mac ?? '')) return true;
      onUnfit({ table: table.table, id: table.key.map((name) => row[name]).join(' ') });
      return false;
    },
    tell: onUnfit,
  };
}

/** Returns the signer of a store without a key. `onUnfit` is called for each row that cannot even be read. */
export function unsigned(onUnfit: (row: UnfitRow) => void): RowSigner {
  return { mac: () => null, fits: () => true, tell: onUnfit };
}

/** Encodes a value so that no other values, one after another, give the same text. */
function lengthAndValue(value: Field): string {
  if (typeof value === 'string') return `"${value.length}:${value}`;
  return value === null ? '-' : `#${value};`;
}

function isSame(made: string, stored: string): boolean {
  const [a, b] = [Buffer.from(made), Buffer.from(stored)];
  return a.length === b.length && timingSafeEqual(a, b);
}
