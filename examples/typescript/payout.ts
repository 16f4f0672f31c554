/** Pays out with a client that has a budget: a thief of its credentials can spend no more than that. */
import { ERROR_CODES, type Payment, type WalletSidecar, WalletSidecarError } from 'wallet-sidecar';
import { sandbox, wallet, walletOf } from './sandbox.ts';

// At most 2000 sats a day and 1000 at once, fees included. The credentials are answered this one time.
const { client_pk, client_credentials } = await wallet.createClient({
  label: 'payouts',
  scopes: ['send'],
  budget: { amount: '2000', period: 'day', max_payment: '1000' },
});
const payouts = walletOf(client_credentials);
try {
  const payment = await payout(payouts, 'alice', '800');
  if (payment.status !== 'completed') throw new Error(`alice was not paid: ${payment.status_msg}`);
  console.log(`alice was paid 800 sats: ${payment.index}`);
  const { budget } = await payouts.clientInfo();
  console.log(`spent ${budget?.spent} of ${budget?.amount} sats`);

  const refusal = await payout(payouts, 'bob', '1500').catch((error: unknown) => error);
  if (!(refusal instanceof WalletSidecarError)) throw new Error('The budget should have refused.');
  if (refusal.code !== ERROR_CODES.overBudget) throw refusal;
  console.log(`bob was refused: ${refusal.message}`);
} finally {
  await wallet.revokeClient({ client_pk });
}

/** Pays an invoice of the payee, which the sandbox's outside world writes. */
async function payout(payer: WalletSidecar, payee: string, amount: string): Promise<Payment> {
  const { invoice = '' } = await sandbox('invoice', { amount, description: payee });
  // The id of the payout in your books: with it as the key, a repeat after whatever went wrong pays once.
  return payer.payInvoice({ invoice }, { idempotencyKey: `payout-${crypto.randomUUID()}` });
}
