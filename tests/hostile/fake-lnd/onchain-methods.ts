import { scriptOf } from './coins.ts';
import { type Input, type JsonObject, LndError, type RpcMethod } from './rpc.ts';
import type { Wallet, WalletTx } from './wallet.ts';

const READ = ['onchain:read'];
const WRITE = ['onchain:write'];
/** The fee rate for every confirmation target. */
export const SAT_PER_KW = 500n;

/** The REST methods of lnrpc's on-chain wallet and of the chain. */
export function onchainMethods(wallet: Wallet): RpcMethod[] {
  return [
    {
      http: 'GET',
      path: '/v1/balance/blockchain',
      rpc: '/lnrpc.Lightning/WalletBalance',
      needs: READ,
      answer: () => balanceJson(wallet),
    },
    {
      http: 'GET',
      path: '/v1/newaddress',
      rpc: '/lnrpc.Lightning/NewAddress',
      needs: ['address:write'],
      answer: ({ input }) => {
        // UNUSED_* types are 2, 3 and 5.
        const unused =
          ['2', '3', '5'].includes(input.text('type')) || input.text('type').startsWith('UNUSED');
        return { address: (unused ? wallet.unusedAddress() : wallet.newAddress()).address };
      },
    },
    {
      http: 'GET',
      path: '/v1/transactions',
      rpc: '/lnrpc.Lightning/GetTransactions',
      needs: READ,
      answer: ({ input }) => {
        const transactions = between(wallet, input);
        return {
          transactions: transactions.map((tx) => transactionJson(wallet, tx)),
          last_index: `${Math.max(0, transactions.length - 1)}`,
          first_index: '0',
        };
      },
    },
    {
      http: 'GET',
      path: '/v1/transactions/subscribe',
      rpc: '/lnrpc.Lightning/SubscribeTransactions',
      needs: READ,
      items: async function* ({ signal }) {
        for await (const tx of wallet.changes.follow(signal)) yield transactionJson(wallet, tx);
      },
    },
    {
      http: 'GET',
      path: '/v1/transactions/fee',
      rpc: '/lnrpc.Lightning/EstimateFee',
      needs: READ,
      answer: ({ input }) => {
        const outputs = input.names().flatMap((name) => {
          const address = /^AddrToAmount\[(.+)\]$/.exec(name)?.[1];
          return address ? [{ script: scriptOf(address), valueSat: input.int(name) }] : [];
        });
        const spendUnconfirmed = input.bool('spend_unconfirmed');
        const { coins, change, transaction } = wallet.fund(outputs, {
          satPerKw: SAT_PER_KW,
          spendUnconfirmed,
        });
        const inSat = coins.reduce((sum, { valueSat }) => sum + valueSat, 0n);
        const changeSat = change < 0 ? 0n : (transaction.getOutput(change).amount ?? 0n);
        const outSat = outputs.reduce((sum, { valueSat }) => sum + valueSat, changeSat);
        const satPerVbyte = `${SAT_PER_KW / 250n}`;
        return {
          fee_sat: `${inSat - outSat}`,
          feerate_sat_per_byte: satPerVbyte,
          sat_per_vbyte: satPerVbyte,
          inputs: coins.map(({ outpoint }) => outPointJson(outpoint)),
        };
      },
    },
    {
      http: 'POST',
      path: '/v1/transactions',
      rpc: '/lnrpc.Lightning/SendCoins',
      needs: WRITE,
      answer: ({ input }) => {
        const script = scriptOf(input.text('addr'));
        const { txid } = wallet.pay(
          [{ script, valueSat: input.int('amount') }],
          {
            satPerKw: rateOf(input),
            spendUnconfirmed: input.bool('spend_unconfirmed'),
            ...(input.has('outpoints')
              ? { outpoints: input.list('outpoints').map(outpointOf) }
              : {}),
          },
          input.text('label'),
        );
        return { txid };
      },
    },
    {
      http: 'POST',
      path: '/v2/chainnotifier/register/blocks',
      rpc: '/chainrpc.ChainNotifier/RegisterBlockEpochNtfn',
      needs: READ,
      items: async function* ({ input, signal }) {
        const current = () => (input.has('hash') ? [] : [wallet.height]);
        for await (const height of wallet.blocks.follow(signal, current)) {
          yield { hash: Buffer.from(blockHash(height), 'hex').toString('base64'), height };
        }
      },
    },
  ];
}

/** The hash of a block, hex; it depends on the height alone. */
export function blockHash(height: number): string {
  return height.toString(16).padStart(64, '0');
}

/** The fee rate that a request names. */
export function rateOf(input: Input): bigint {
  if (input.int('sat_per_kw') > 0n) return input.int('sat_per_kw');
  if (input.int('sat_per_vbyte') > 0n) return input.int('sat_per_vbyte') * 250n;
  return SAT_PER_KW;
}

/** lnrpc.OutPoint, which holds the txid in wire byte order as well. */
export function outPointJson(outpoint: string): JsonObject {
  const [txid = '', vout] = outpoint.split(':');
  return {
    txid_bytes: Buffer.from(txid, 'hex').reverse().toString('base64'),
    txid_str: txid,
    output_index: Number(vout),
  };
}

/** Reads an lnrpc.OutPoint as `<txid>:<vout>`. */
export function outpointOf(input: Input): string {
  const txid = input.text('txid_str') || input.bytes('txid_bytes').reverse().toString('hex');
  if (!/^[0-9a-f]{64}$/.test(txid)) throw new LndError('outpoint has no txid');
  return `${txid}:${input.int('output_index')}`;
}

/** lnrpc.Transaction */
export function transactionJson(wallet: Wallet, tx: WalletTx): JsonObject {
  const ours = tx.outputs.reduce((sum, { isOurs, valueSat }) => sum + (isOurs ? valueSat : 0n), 0n);
  const spent = tx.inputs.reduce((sum, { ownValueSat }) => sum + (ownValueSat ?? 0n), 0n);
  const out = tx.outputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  const funded = tx.inputs.every(({ ownValueSat }) => ownValueSat !== null);
  return {
    tx_hash: tx.txid,
    amount: `${ours - spent}`,
    num_confirmations: wallet.confirmations(tx),
    block_hash: tx.height === null ? '' : blockHash(tx.height),
    block_height: tx.height ?? 0,
    time_stamp: `${tx.seenSecs}`,
    total_fees: `${funded ? spent - out : 0n}`,
    dest_addresses: tx.outputs.map(({ address }) => address),
    output_details: tx.outputs.map(({ address, script, valueSat, isOurs }, vout) => ({
      output_type: 'SCRIPT_TYPE_WITNESS_V0_PUBKEY_HASH',
      address,
      pk_script: script,
      output_index: `${vout}`,
      amount: `${valueSat}`,
      is_our_address: isOurs,
    })),
    raw_tx_hex: tx.raw,
    label: tx.label,
    previous_outpoints: tx.inputs.map(({ outpoint, ownValueSat }) => ({
      outpoint,
      is_our_output: ownValueSat !== null,
    })),
  };
}

/**
 * The transactions from start_height to end_height. An end of -1 or 0 includes unconfirmed ones; a start of -1 means
 * only those.
 */
function between(wallet: Wallet, input: Input): WalletTx[] {
  const start = Number(input.int('start_height'));
  const end = Number(input.int('end_height')) || -1;
  return wallet
    .list()
    .filter(({ height }) => {
      if (height === null) return end === -1;
      return start >= 0 && height >= start && (end === -1 || height <= end);
    })
    .toSorted((a, b) => (b.height ?? Number.MAX_VALUE) - (a.height ?? Number.MAX_VALUE));
}

function balanceJson(wallet: Wallet): JsonObject {
  const sum = (isWanted: (coin: { confirmations: number; outpoint: string }) => boolean) =>
    wallet
      .coins()
      .filter(isWanted)
      .reduce((total, { valueSat }) => total + valueSat, 0n);
  const confirmed = sum(
    ({ confirmations, outpoint }) => confirmations > 0 && !wallet.isLeased(outpoint),
  );
  const unconfirmed = sum(
    ({ confirmations, outpoint }) => confirmations === 0 && !wallet.isLeased(outpoint),
  );
  const locked = wallet.leasedCoins().reduce((total, { valueSat }) => total + valueSat, 0n);
  const account = { confirmed_balance: `${confirmed}`, unconfirmed_balance: `${unconfirmed}` };
  return {
    total_balance: `${confirmed + unconfirmed}`,
    ...account,
    locked_balance: `${locked}`,
    reserved_balance_anchor_chan: '0',
    account_balance: { default: account },
  };
}
