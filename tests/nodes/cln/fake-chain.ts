import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base64, hex } from '@scure/base';
import { OutScript, p2tr, p2wpkh, RawTx, Transaction } from '@scure/btc-signer';
import { decodeAddress } from '../../../src/codecs/address.ts';
import { keyedLock } from '../../../src/lib/keyed-lock.ts';
import { ApiError } from '../../../src/model/errors.ts';
import { ClnRpc } from '../../../src/nodes/cln/reads/rpc.ts';
import type { ClnWallet } from '../../../src/nodes/cln/reads/wallet.ts';
import type { ConnectorRows } from '../../../src/nodes/remote-kind.ts';
import { addressOf, foreignTransaction, idOf, inputsOf, LENIENT } from './transactions.ts';

/** A chain wallet in the form of Core Lightning's commands. It proves nothing about Core Lightning itself. */

const SECRET = new Uint8Array(32).fill(7);
const KEY = secp256k1.getPublicKey(SECRET, true);
const THEIR_KEY = secp256k1.getPublicKey(new Uint8Array(32).fill(9), true);
export const OURS = p2wpkh(KEY).script;
const OUR_TAPROOT = p2tr(KEY.slice(1)).script;
export const THEIR_SCRIPT = p2wpkh(THEIR_KEY).script;
export const THEIR_ADDRESS = addressOf(THEIR_SCRIPT);
/** The height of the chain at the start. */
export const START = 500;

export interface FakeCoin {
  txid: string;
  output: number;
  sat: bigint;
  script: Uint8Array;
  blockheight: number;
  isSpent: boolean;
  reservedTo: number;
  /** Whether the Bitcoin node has its transaction. */
  isThere: boolean;
}

type Params = Record<string, unknown>;
type Answer = (params: Params) => unknown;

/** An error answer of the node. */
export class FakeError extends Error {
  constructor(
    readonly code: number | null,
    message: string,
  ) {
    super(message);
  }
}

/** The error of a call that is to fail. */
export async function failed(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ApiError)) throw new Error(`it did not fail as expected: ${error}`);
  return error;
}

/** A request whose answer does not arrive. */
export class Cut extends Error {}

export function fakeChain() {
  const coins: FakeCoin[] = [];
  const transactions: { raw: string; blockheight: number }[] = [];
  const moves: Params[] = [];
  const calls: { method: string; params: Params }[] = [];
  const overrides = new Map<string, Answer>();
  const state = {
    height: START,
    perkw: { floor: 253, estimates: [] as { blockcount: number; feerate: number }[] },
    channels: [] as Params[],
    closed: [] as Params[],
    network: 'regtest',
  };
  /** The secrets of the addresses that were given, by their scripts. */
  const given = new Map<string, Uint8Array>();
  const isOurs = (script: Uint8Array) => isOwn(script) || given.has(hex.encode(script));

  const coinAt = (outpoint: string) =>
    coins.find(({ txid, output }) => `${txid}:${output}` === outpoint);
  const isReserved = (coin: FakeCoin) => coin.reservedTo > state.height;
  const namedIn = (psbt: unknown) => inputsOf(parse(String(psbt)).unsignedTx);

  function parse(psbt: string): Transaction {
    return Transaction.fromPSBT(base64.decode(psbt), LENIENT);
  }
  function funded(utxos: string[], outputs: { script: Uint8Array; amount: bigint }[]) {
    const transaction = new Transaction({ ...LENIENT, PSBTVersion: 2 } as object);
    for (const outpoint of utxos) {
      const coin = coinAt(outpoint);
      if (!coin) throw new FakeError(-32602, `Unknown UTXO ${outpoint}`);
      if (coin.isSpent) throw new FakeError(-32602, `Already spent UTXO ${outpoint}`);
      if (isReserved(coin)) throw new FakeError(-32602, `UTXO ${outpoint} already reserved`);
      const isTaproot = coin.script[0] === 0x51;
      transaction.addInput({
        txid: coin.txid,
        index: coin.output,
        witnessUtxo: { script: coin.script, amount: coin.sat },
        ...(isTaproot ? { tapInternalKey: KEY.slice(1) } : {}),
      });
    }
    for (const output of outputs) transaction.addOutput(output);
    for (const outpoint of utxos) {
      const coin = coinAt(outpoint);
      if (coin) coin.reservedTo = state.height + 72;
    }
    return base64.encode(transaction.toPSBT(2));
  }
  const sumOf = (utxos: string[]) => utxos.reduce((sum, one) => sum + (coinAt(one)?.sat ?? 0n), 0n);
  /** The change of a transaction of that rate, as Core Lightning calculates it. */
  function changeOf(utxos: string[], paidSat: bigint, weight: number, rate: number): bigint {
    const inputs = utxos.reduce((sum, one) => sum + inputWeight(coinAt(one)), 0);
    const fee = (extra: number) => BigInt(Math.floor(((weight + inputs + extra) * rate) / 1000));
    const left = sumOf(utxos) - paidSat;
    if (left < fee(0)) throw new FakeError(301, 'Could not afford it');
    const change = left - fee(172);
    return change >= 330n ? change : 0n;
  }

  const answers: Record<string, Answer> = {
    getinfo: () => ({
      id: hex.encode(KEY),
      version: 'v26.06.6',
      network: state.network,
      blockheight: state.height,
    }),
    feerates: () => ({ perkw: state.perkw }),
    listfunds: ({ spent = false }) => ({
      outputs: coins
        .filter(({ isSpent }) => spent || !isSpent)
        .map((coin) => ({
          txid: coin.txid,
          output: coin.output,
          amount_msat: Number(coin.sat * 1000n),
          scriptpubkey: hex.encode(coin.script),
          address: addressOf(coin.script),
          status: coin.isSpent ? 'spent' : coin.blockheight > 0 ? 'confirmed' : 'unconfirmed',
          reserved: isReserved(coin),
          ...(isReserved(coin) ? { reserved_to_block: coin.reservedTo } : {}),
        })),
    }),
    getutxout: ({ txid, vout }) => {
      const coin = coinAt(`${txid}:${vout}`);
      return { amount: coin?.isThere ? Number(coin.sat) : null, script: null };
    },
    listtransactions: () => ({
      transactions: transactions.map(({ raw, blockheight }) => {
        const { lockTime, inputs, outputs } = RawTx.decode(hex.decode(raw));
        return {
          hash: idOf(raw),
          rawtx: raw,
          blockheight,
          locktime: lockTime,
          inputs: inputs.map(({ txid, index, sequence }) => ({
            txid: hex.encode(txid),
            index,
            sequence,
          })),
          outputs: outputs.map(({ amount, script }) => ({
            amount_msat: Number(amount * 1000n),
            scriptPubKey: hex.encode(script),
          })),
        };
      }),
    }),
    listchainmoves: ({ start = 1, limit = 1000 }) => ({
      chainmoves: moves
        .filter(({ created_index }) => Number(created_index) >= Number(start))
        .slice(0, Number(limit)),
    }),
    listpeerchannels: () => ({ channels: state.channels }),
    listclosedchannels: () => ({ closedchannels: state.closed }),
    newaddr: ({ addresstype }) => {
      const secret = new Uint8Array(32).fill(101 + given.size);
      const key = secp256k1.getPublicKey(secret, true);
      const { script } = addresstype === 'p2tr' ? p2tr(key.slice(1)) : p2wpkh(key);
      given.set(hex.encode(script), secret);
      return { [addresstype === 'p2tr' ? 'p2tr' : 'bech32']: addressOf(script) };
    },
    txprepare: ({ outputs, feerate, utxos }) => {
      const [output = {}] = outputs as Record<string, string>[];
      const [[address = '', amount = ''] = []] = Object.entries(output);
      const script = decodeAddress(address).scriptPubKey;
      const paid = { script, amount: BigInt(amount.replace('sat', '')) };
      const weight = 42 + 4 * (9 + script.length);
      const change = changeOf(utxos as string[], paid.amount, weight, rateIn(feerate));
      const rest = change > 0n ? [{ script: OUR_TAPROOT, amount: change }] : [];
      return { psbt: funded(utxos as string[], [paid, ...rest]) };
    },
    utxopsbt: ({ satoshi, feerate, startweight, utxos, reserve }) => {
      const named = utxos as string[];
      if (satoshi === 'all') {
        if (reserve !== 0) throw new FakeError(-1, 'the fake reserves nothing for "all"');
        const weight = named.reduce(
          (sum, one) => sum + inputWeight(coinAt(one)),
          Number(startweight),
        );
        const fee = BigInt(Math.floor((weight * rateIn(feerate)) / 1000));
        return {
          psbt: '',
          excess_msat: Number((sumOf(named) - fee) * 1000n),
          feerate_per_kw: rateIn(feerate),
          estimated_final_weight: weight,
        };
      }
      const amount = BigInt(String(satoshi).replace('sat', ''));
      const change = changeOf(named, amount, Number(startweight), rateIn(feerate));
      return { psbt: funded(named, [{ script: OUR_TAPROOT, amount: change }]) };
    },
    signpsbt: ({ psbt }) => {
      const transaction = parse(String(psbt));
      for (const [at, outpoint] of inputsOf(transaction.unsignedTx).entries()) {
        const script = hex.encode(coinAt(outpoint)?.script ?? new Uint8Array());
        transaction.signIdx(given.get(script) ?? SECRET, at);
      }
      return { signed_psbt: base64.encode(transaction.toPSBT(2)) };
    },
    sendpsbt: ({ psbt, reserve }) => {
      const transaction = parse(String(psbt));
      const raw = hex.encode(transaction.toBytes(true, true));
      const spent = inputsOf(transaction.unsignedTx).map(coinAt);
      if (spent.some((coin) => coin && !isReserved(coin))) {
        throw new FakeError(-1, 'Aborting PSBT signing. UTXO is not reserved');
      }
      for (const coin of spent) if (coin) coin.reservedTo += Number(reserve);
      publish(raw);
      return { tx: raw, txid: idOf(raw) };
    },
    reserveinputs: ({ psbt, reserve }) => {
      for (const coin of namedIn(psbt).map(coinAt)) {
        if (coin) coin.reservedTo = Math.max(coin.reservedTo, state.height) + Number(reserve);
      }
      return { reservations: [] };
    },
    unreserveinputs: ({ psbt, reserve }) => {
      for (const coin of namedIn(psbt).map(coinAt)) {
        if (coin) coin.reservedTo = Math.max(coin.reservedTo - Number(reserve), 0);
      }
      return { reservations: [] };
    },
    connect: () => ({ id: '' }),
  };

  /** Has the node list a transaction and know the outputs that are its own. */
  function publish(raw: string, blockheight = 0): string {
    const txid = idOf(raw);
    if (!transactions.some((one) => one.raw === raw)) transactions.push({ raw, blockheight });
    RawTx.decode(hex.decode(raw)).outputs.forEach(({ amount, script }, output) => {
      if (!isOurs(script) || coinAt(`${txid}:${output}`)) return;
      coins.push(coinOf(txid, output, amount, script, blockheight));
    });
    return txid;
  }

  /** Puts transactions into the next block. */
  function mine(...raws: string[]): void {
    state.height += 1;
    for (const raw of raws) {
      publish(raw, state.height);
      const txid = idOf(raw);
      for (const one of transactions) if (one.raw === raw) one.blockheight = state.height;
      for (const outpoint of inputsOf(hex.decode(raw))) {
        const coin = coinAt(outpoint);
        if (!coin) continue;
        coin.isSpent = true;
        move({ primary_tag: 'withdrawal', utxo: outpoint, spending_txid: txid });
      }
      for (const coin of coins) {
        if (coin.txid !== txid) continue;
        coin.blockheight = state.height;
        move({ primary_tag: 'deposit', utxo: `${txid}:${coin.output}` });
      }
    }
  }

  /** Takes the block of a transaction back, as a reorganization does. The record of moves stays. */
  function unmine(txid: string): void {
    for (const one of transactions) {
      if (idOf(one.raw) !== txid) continue;
      one.blockheight = 0;
      for (const outpoint of inputsOf(hex.decode(one.raw))) {
        const coin = coinAt(outpoint);
        if (coin) coin.isSpent = false;
      }
    }
    for (const coin of coins) if (coin.txid === txid) coin.blockheight = 0;
  }

  /** Has the node not list a transaction, as when it stopped before it wrote it down. */
  function forget(txid: string): void {
    transactions.splice(
      0,
      transactions.length,
      ...transactions.filter(({ raw }) => idOf(raw) !== txid),
    );
  }

  function move(row: Params): void {
    const common = {
      created_index: moves.length + 1,
      account_id: 'wallet',
      timestamp: 1_800_000_000,
    };
    moves.push({ ...common, blockheight: state.height, ...row });
  }

  const endpoint = {
    async call({ path, body }: { path: string; body: string | null }) {
      const method = path.slice('/v1/'.length);
      const params = JSON.parse(body ?? '{}') as Params;
      calls.push({ method, params });
      const answer = overrides.get(method) ?? answers[method];
      try {
        if (!answer) throw new FakeError(-32601, `Unknown command '${method}'`);
        return { status: 201, text: JSON.stringify(await answer(params)), serverTimeMs: null };
      } catch (error) {
        if (!(error instanceof FakeError)) throw error;
        const { code, message } = error;
        return { status: 500, text: JSON.stringify({ code, message }), serverTimeMs: null };
      }
    },
  };
  const rpc = new ClnRpc({ endpoint: endpoint as never, token: () => 'rune' });
  const rows = new Map<string, unknown>();
  const memory: ConnectorRows = {
    get: async (...key) => rows.get(JSON.stringify(key)) ?? null,
    put: async (walletId, kind, key, value) => {
      rows.set(JSON.stringify([walletId, kind, key]), structuredClone(value));
    },
  };
  let nowMs = 1_800_000_500_000;
  const wallet = {
    userPk: 'ab'.repeat(32),
    nodePk: hex.encode(KEY),
    network: 'regtest',
    clock: { now: () => nowMs },
    locks: keyedLock(),
    rows: memory,
  } as unknown as ClnWallet;

  return {
    rpc,
    owner: rpc,
    wallet,
    coins,
    calls,
    moves,
    state,
    answers,
    publish,
    mine,
    unmine,
    forget,
    /** The transactions that no block has. */
    unconfirmed: () =>
      transactions.flatMap(({ raw, blockheight }) => (blockheight === 0 ? [raw] : [])),
    /** Replaces the answer of a command. */
    on: (method: string, answer: Answer) => void overrides.set(method, answer),
    off: (method: string) => void overrides.delete(method),
    called: (method: string) => calls.filter((call) => call.method === method),
    advance: (ms: number) => {
      nowMs += ms;
    },
    /** Has others pay the wallet in the next block; returns the transaction. */
    receive(sat: bigint, script: Uint8Array = OURS): string {
      const raw = foreignTransaction([{ script, amount: sat }], coins.length);
      mine(raw);
      return raw;
    },
  };
}
export type FakeChain = ReturnType<typeof fakeChain>;

function isOwn(script: Uint8Array): boolean {
  const text = hex.encode(script);
  return text === hex.encode(OURS) || text === hex.encode(OUR_TAPROOT);
}

function inputWeight(coin: FakeCoin | undefined): number {
  return coin && OutScript.decode(coin.script).type === 'tr' ? 230 : 271;
}

function rateIn(feerate: unknown): number {
  return Number(String(feerate).replace('perkw', ''));
}

function coinOf(
  txid: string,
  output: number,
  sat: bigint,
  script: Uint8Array,
  blockheight: number,
): FakeCoin {
  return { txid, output, sat, script, blockheight, isSpent: false, reservedTo: 0, isThere: true };
}
