import type { BudgetState, ClientRecord } from '../../model/clients/client.ts';
import { type ClientColumns, clientOf, columnsOfClient } from '../columns/client.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Rows } from './rows.ts';
import type { Steps } from './steps.ts';
import { tableOf } from './table.ts';

/** Rows of the table of clients, for ports that read and write them inside their own transactions. */
export interface ClientRows {
  find(clientPk: string): Steps<ClientRecord | null>;
  /** The wallet's clients, oldest first. */
  list(walletId: string): Steps<ClientRecord[]>;
  /** Throws where the client belongs to another wallet. */
  put(walletId: string, record: ClientRecord): Steps<void>;
  /**
   * Whether the client has a budget. A client spends only by its row, so one whose row does not fit or was taken away
   * meanwhile counts as having one, and spends nothing.
   */
  budgetState(walletId: string, clientPk: string): Steps<BudgetState>;
}

/** Prepares the statements of the table of clients. A row that does not fit is not there. */
export function clientRows(rows: Rows): ClientRows {
  const clients = tableOf<ClientColumns>(rows, SIGNED.client);
  const find = clients.select('WHERE client_pk = ?', { of: clientOf });
  const list = clients.select('WHERE wallet = ? ORDER BY created_at, seq', { of: clientOf });
  const put = clients.upsert({
    key: ['client_pk'],
    where: 'WHERE client.wallet = excluded.wallet',
  });
  return {
    find: find.one,
    list: list.all,
    *put(walletId, record) {
      const written = yield* put(columnsOfClient(record));
      if (record.walletId !== walletId || written === 0) {
        throw new Error(`Client ${record.clientPk} belongs to another wallet.`);
      }
    },
    *budgetState(walletId, clientPk) {
      const raw = yield* find.raw.one(clientPk);
      const record = raw?.wallet === walletId ? find.read(raw) : null;
      return record?.budgetState ?? 'set';
    },
  };
}
