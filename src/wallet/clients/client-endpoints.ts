import type { ClientRecord } from '../../model/clients/client.ts';
import type { WalletRows } from '../session/session.ts';

/** Deletes the endpoints that these clients made. What a client added must not outlive its grant. */
export async function endEndpointsOf(
  { userPk, store }: WalletRows,
  clients: readonly ClientRecord[],
): Promise<void> {
  if (clients.length === 0) return;
  const ids = (await store.webhookEndpoints.list(userPk)).map(({ id }) => id);
  for (const { clientPk } of clients) {
    for (const id of await store.makers.of(userPk, clientPk, ids)) {
      await store.webhookEndpoints.remove(userPk, id);
    }
  }
}
