/** Tips somebody by Lightning Address. */
import { sandbox, wallet, walletOf } from './sandbox.ts';

// Somebody to tip: a second wallet of the sandbox that claims a name. With a real wallet you are told the address.
const { client_credentials } = await sandbox('wallets', {});
const { lightning_address: address } = await walletOf(client_credentials).claimHumanBitcoinAddress({
  username: `tips-${crypto.randomUUID().slice(0, 8)}`,
});

// What the address takes, in sats.
const { payables } = await wallet.analyze({ payment_string: address });
const lnurl = payables.find(({ kind }) => kind === 'lnurl-pay');
console.log(`${address} takes from ${lnurl?.min_amount} to ${lnurl?.max_amount} sats`);

// The id of the tip in your books: with it as the key, a repeat after whatever went wrong pays once.
const payment = await wallet.payLnurl(
  { lnurl: address, amount: '210', message: 'Thank you' },
  { idempotencyKey: `tip-${crypto.randomUUID()}` },
);
if (payment.status !== 'completed') {
  throw new Error(`The tip did not arrive: ${payment.status_msg}`);
}
console.log(`tipped ${payment.amount} sats, fees ${payment.fees}: ${payment.index}`);
