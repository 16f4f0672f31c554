import { inputsOf, outputsOf, readPsbt, scriptOf, signAll } from './coins.ts';
import {
  outPointJson,
  outpointOf,
  rateOf,
  SAT_PER_KW,
  transactionJson,
} from './onchain-methods.ts';
import { type Input, type JsonObject, LndError, type RpcMethod } from './rpc.ts';
import type { Wallet } from './wallet.ts';

const READ = ['onchain:read'];
const WRITE = ['onchain:write'];
/** LND's own lock id (chanfunding.LndInternalLockID), and how long its locks last. */
const INTERNAL_LOCK = 'ede19a92ed321a4705f8a1cccc1d4f6182545d4bb4fae08bd5937831b7e38f98';
const LOCK_SECS = 600;
const MAX_VALUE = 2 ** 31 - 1;

/** The REST methods of walletrpc: PSBTs, leases, labels. `nowMs` is the node's clock. */
export function walletKitMethods(wallet: Wallet, nowMs: () => number): RpcMethod[] {
  const lease = (outpoint: string, id: string, secs: bigint): number => {
    const held = wallet.leases.get(outpoint);
    if (wallet.isLeased(outpoint) && held?.id !== id) throw new LndError('output already locked');
    if (!wallet.coins().some((coin) => coin.outpoint === outpoint))
      throw new LndError('unknown output');
    const expiresMs = nowMs() + (Number(secs) || LOCK_SECS) * 1000;
    wallet.leases.set(outpoint, { id, expiresMs });
    return Math.floor(expiresMs / 1000);
  };
  const leasesJson = (outpoints: readonly string[]): JsonObject[] =>
    wallet
      .leasedCoins()
      .filter(({ outpoint }) => outpoints.includes(outpoint))
      .map(({ outpoint, script, valueSat }) => {
        const { id = '', expiresMs = 0 } = wallet.leases.get(outpoint) ?? {};
        return {
          id: Buffer.from(id, 'hex').toString('base64'),
          outpoint: outPointJson(outpoint),
          expiration: `${Math.floor(expiresMs / 1000)}`,
          pk_script: Buffer.from(script, 'hex').toString('base64'),
          value: `${valueSat}`,
        };
      });
  return [
    {
      http: 'POST',
      path: '/v2/wallet/psbt/fund',
      rpc: '/walletrpc.WalletKit/FundPsbt',
      needs: WRITE,
      answer: ({ input }) => {
        const { outputs, outpoints } = template(input);
        const { transaction, coins, change } = wallet.fund(outputs, {
          satPerKw: rateOf(input),
          spendUnconfirmed: input.bool('spend_unconfirmed'),
          ...(outpoints.length > 0 ? { outpoints } : {}),
        });
        const id = input.bytes('custom_lock_id').toString('hex') || INTERNAL_LOCK;
        for (const { outpoint } of coins) lease(outpoint, id, input.int('lock_expiration_seconds'));
        return {
          funded_psbt: Buffer.from(transaction.toPSBT()).toString('base64'),
          change_output_index: change,
          locked_utxos: leasesJson(coins.map(({ outpoint }) => outpoint)),
        };
      },
    },
    {
      http: 'POST',
      path: '/v2/wallet/psbt/finalize',
      rpc: '/walletrpc.WalletKit/FinalizePsbt',
      needs: WRITE,
      answer: ({ input }) => {
        const transaction = readPsbt(input.bytes('funded_psbt'));
        signAll(transaction, wallet.keys);
        return {
          signed_psbt: Buffer.from(transaction.toPSBT()).toString('base64'),
          raw_final_tx: Buffer.from(transaction.extract()).toString('base64'),
        };
      },
    },
    {
      http: 'POST',
      path: '/v2/wallet/tx',
      rpc: '/walletrpc.WalletKit/PublishTransaction',
      needs: WRITE,
      answer: ({ input }) => {
        if (!input.has('tx_hex')) throw new LndError('must provide a transaction to publish');
        const label = input.text('label');
        if (label.length > 500) throw new LndError('label exceeds maximum length of 500');
        wallet.publish(input.bytes('tx_hex'), label);
        return { publish_error: '' };
      },
    },
    {
      http: 'GET',
      path: '/v2/wallet/tx',
      rpc: '/walletrpc.WalletKit/GetTransaction',
      needs: READ,
      answer: ({ input }) => transactionJson(wallet, wallet.get(input.text('txid'))),
    },
    {
      http: 'POST',
      path: '/v2/wallet/tx/label',
      rpc: '/walletrpc.WalletKit/LabelTransaction',
      needs: WRITE,
      answer: ({ input }) => {
        const label = input.text('label');
        if (label === '') throw new LndError('cannot label transaction with empty label');
        const tx = wallet.get(input.bytes('txid').reverse().toString('hex'));
        if (tx.label !== '' && !input.bool('overwrite')) {
          throw new LndError('transaction already labelled');
        }
        tx.label = label;
        return { status: `transaction label '${label}' added` };
      },
    },
    {
      http: 'POST',
      path: '/v2/wallet/utxos',
      rpc: '/walletrpc.WalletKit/ListUnspent',
      needs: READ,
      answer: ({ input }) => {
        const most =
          Number(input.int('max_confs')) || (input.bool('unconfirmed_only') ? 0 : MAX_VALUE);
        const least = Number(input.int('min_confs'));
        const utxos = wallet
          .coins()
          .filter(({ outpoint }) => !wallet.isLeased(outpoint))
          .filter(({ confirmations }) => confirmations >= least && confirmations <= most)
          .map(({ outpoint, address, script, valueSat, confirmations }) => ({
            address_type: 'WITNESS_PUBKEY_HASH',
            address,
            amount_sat: `${valueSat}`,
            pk_script: script,
            outpoint: outPointJson(outpoint),
            confirmations: `${confirmations}`,
          }));
        return { utxos };
      },
    },
    {
      http: 'POST',
      path: '/v2/wallet/utxos/lease',
      rpc: '/walletrpc.WalletKit/LeaseOutput',
      needs: WRITE,
      answer: ({ input }) => {
        const id = lockId(input);
        const outpoint = outpointOf(input.object('outpoint'));
        return { expiration: `${lease(outpoint, id, input.int('expiration_seconds'))}` };
      },
    },
    {
      http: 'POST',
      path: '/v2/wallet/utxos/release',
      rpc: '/walletrpc.WalletKit/ReleaseOutput',
      needs: WRITE,
      answer: ({ input }) => {
        const id = input.bytes('id').toString('hex');
        const outpoint = outpointOf(input.object('outpoint'));
        if (wallet.isLeased(outpoint) && wallet.leases.get(outpoint)?.id !== id) {
          throw new LndError('output unlock not allowed');
        }
        wallet.leases.delete(outpoint);
        return { status: `output ${outpoint} released` };
      },
    },
    {
      http: 'POST',
      path: '/v2/wallet/utxos/leases',
      rpc: '/walletrpc.WalletKit/ListLeases',
      needs: READ,
      answer: () => ({ locked_utxos: leasesJson([...wallet.leases.keys()]) }),
    },
    {
      http: 'GET',
      path: '/v2/wallet/estimatefee/{conf_target}',
      rpc: '/walletrpc.WalletKit/EstimateFee',
      needs: READ,
      answer: () => ({ sat_per_kw: `${SAT_PER_KW}`, min_relay_fee_sat_per_kw: '253' }),
    },
  ];
}

function lockId(input: Input): string {
  const id = input.bytes('id');
  if (id.length !== 32 || id.every((byte) => byte === 0))
    throw new LndError('id must be 32 random bytes');
  return id.toString('hex');
}

/** The payments and the coins that a request's template names. */
function template(input: Input) {
  if (input.has('raw')) {
    const raw = input.object('raw');
    const amounts = raw.object('outputs');
    const outputs = amounts
      .names()
      .map((address) => ({ script: scriptOf(address), valueSat: amounts.int(address) }));
    return { outputs, outpoints: raw.list('inputs').map(outpointOf) };
  }
  const source = input.has('coin_select') ? input.object('coin_select') : input;
  const transaction = readPsbt(source.bytes('psbt'));
  return { outputs: outputsOf(transaction), outpoints: inputsOf(transaction) };
}
