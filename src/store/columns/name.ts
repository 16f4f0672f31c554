import type { NameRecord } from '../ports.ts';

/** The columns of a name that are signed, the same in both engines. */
export interface NameColumns {
  readonly wallet: string;
  readonly node_kind: string;
  readonly username: string;
  readonly offer: string | null;
  readonly window_at: number;
}

/** Returns the columns of a name. */
export function columnsOfName(record: NameRecord): NameColumns {
  return {
    wallet: record.walletId,
    node_kind: record.nodeKind,
    username: record.username,
    offer: record.offer,
    window_at: record.windowAtMs,
  };
}

/** Returns the name of these columns. */
export function nameOf(columns: NameColumns): NameRecord {
  return {
    walletId: columns.wallet,
    nodeKind: columns.node_kind,
    username: columns.username,
    offer: columns.offer,
    windowAtMs: columns.window_at,
  };
}
