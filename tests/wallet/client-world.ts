import { afterEach, beforeEach } from 'bun:test';
import type { Budget } from '../../src/model/clients/budget.ts';
import type { ClientRecord } from '../../src/model/clients/client.ts';
import type { Scope } from '../../src/model/clients/permissions.ts';
import { periodStart } from '../../src/wallet/budget/budget.ts';
import { permissionsOf } from '../../src/wallet/clients/client-policy.ts';
import { createClient, type NewClient } from '../../src/wallet/clients/clients.ts';
import type { Wallets } from '../../src/wallet/open/wallets.ts';
import { randomNames } from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { WALLET } from '../support/store-steps.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

export const BUDGET: Budget = { amountMsat: 5000n, period: 'total', maxPaymentMsat: null };

/** A request for a client with these scopes, without a budget or an end. */
export const clientRequest = (
  scopes: readonly Scope[],
  change: Partial<NewClient> = {},
): NewClient => ({
  scopes,
  permissions: [],
  expiresAtMs: null,
  label: null,
  budget: null,
  ...change,
});

export const grant = (...scopes: Scope[]) => ({ grant: { scopes, permissions: [] } });
export const permissions = (...scopes: Scope[]) => permissionsOf({ scopes, permissions: [] });

/** The permissions of a client in force in one of its sessions. */
export const live = ({ session }: { readonly session: Session }) => {
  const client = session.client();
  return client && permissionsOf(client);
};

/** Opens a wallet before each test of the file, and closes it afterwards. */
export function clientWorld() {
  let world: WalletWorld;
  let wallets: Wallets;
  let owner: Session;
  beforeEach(async () => {
    world = await walletWorld();
    ({ wallets, owner } = await world.start());
  });
  afterEach(() => world.close());

  /** A client that the session `by` creates, and a session of that client. */
  async function make(scopes: readonly Scope[], change: Partial<NewClient> = {}, by = owner) {
    const request = clientRequest(scopes, change);
    const { client, credentials } = await createClient(by, request, randomNames);
    return { pk: client.clientPk, credentials, session: await wallets.open(credentials) };
  }

  async function record(pk: string): Promise<ClientRecord> {
    const found = await world.store.clients.find(pk);
    if (!found) throw new Error(`no client ${pk}`);
    return found;
  }

  return {
    make,
    record,
    stored: async (pk: string) => permissionsOf(await record(pk)),
    budgetOf: async (pk: string) =>
      (await world.store.budgets.get(WALLET, pk, 1, periodStart)).budget,
    get world() {
      return world;
    },
    get wallets() {
      return wallets;
    },
    get owner() {
      return owner;
    },
  };
}
