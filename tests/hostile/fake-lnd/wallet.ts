import type { Transaction } from '@scure/btc-signer';
import {
  type AddressKey,
  addressOf,
  type Coin,
  draft,
  feeSatOf,
  foreignTransaction,
  inputsOf,
  newAddressKey,
  type Output,
  outputsOf,
  readRaw,
  scriptOf,
  signAll,
} from './coins.ts';
import { Feed } from './feed.ts';
import { LndError } from './rpc.ts';

/** A transaction that the wallet knows. */
export interface WalletTx {
  readonly txid: string;
  /** The transaction with its witnesses, hex. */
  readonly raw: string;
  readonly inputs: readonly { readonly outpoint: string; readonly ownValueSat: bigint | null }[];
  readonly outputs: readonly (Output & { readonly address: string; readonly isOurs: boolean })[];
  readonly seenSecs: number;
  label: string;
  /** The height of its block; null while unconfirmed. */
  height: number | null;
}

/** The coins that a transaction may spend. */
export interface Selection {
  readonly satPerKw: bigint;
  readonly spendUnconfirmed?: boolean;
  /** Spends exactly these coins, where given. */
  readonly outpoints?: readonly string[];
}

/** LND's on-chain wallet, and the chain that it follows. */
export class Wallet {
  readonly blocks = new Feed<number>();
  readonly changes = new Feed<WalletTx>();
  readonly keys = new Map<string, AddressKey>();
  readonly leases = new Map<string, { id: string; expiresMs: number }>();
  height = 500;
  readonly #txs = new Map<string, WalletTx>();
  readonly #nowMs: () => number;
  #lastAddress: AddressKey | null = null;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  list(): readonly WalletTx[] {
    return [...this.#txs.values()];
  }

  get(txid: string): WalletTx {
    const known = this.#txs.get(txid);
    if (!known) throw new LndError('can not find transaction');
    return known;
  }

  confirmations({ height }: WalletTx): number {
    return height === null ? 0 : this.height - height + 1;
  }

  newAddress(): AddressKey {
    const key = this.#newKey();
    this.#lastAddress = key;
    return key;
  }

  /** The last address, until it is paid. */
  unusedAddress(): AddressKey {
    const last = this.#lastAddress;
    const used = this.list().some(({ outputs }) =>
      outputs.some(({ script }) => script === last?.script),
    );
    return last && !used ? last : this.newAddress();
  }

  /** Outputs of the wallet that no transaction has spent. */
  coins(): Coin[] {
    return this.#outputsNotSpentBy(this.list());
  }

  /** Outputs of the wallet with a lock, also those that an unconfirmed transaction spends: LND removes it in a block. */
  leasedCoins(): Coin[] {
    const confirmed = this.list().filter(({ height }) => height !== null);
    return this.#outputsNotSpentBy(confirmed).filter(({ outpoint }) => this.isLeased(outpoint));
  }

  #outputsNotSpentBy(transactions: readonly WalletTx[]): Coin[] {
    const spent = new Set(
      transactions.flatMap(({ inputs }) => inputs.map(({ outpoint }) => outpoint)),
    );
    return this.list()
      .flatMap((tx) =>
        tx.outputs.map((output, vout) => ({
          ...output,
          outpoint: `${tx.txid}:${vout}`,
          confirmations: this.confirmations(tx),
        })),
      )
      .filter(({ isOurs, outpoint }) => isOurs && !spent.has(outpoint));
  }

  isLeased(outpoint: string): boolean {
    return (this.leases.get(outpoint)?.expiresMs ?? 0) > this.#nowMs();
  }

  /** Receives coins from outside, confirmed at once unless `options` say otherwise. */
  receive(valueSat: bigint, options: { address?: string; confirmed?: boolean } = {}): WalletTx {
    const script = scriptOf(options.address ?? this.newAddress().address);
    const raw = foreignTransaction([{ script, valueSat }]);
    const tx = this.#insert(readRaw(raw), raw, '');
    if (options.confirmed ?? true) this.mine(1);
    return tx;
  }

  /**
   * Makes an unsigned transaction that pays `outputs`. Returns it with its coins and the position of the change, -1
   * without change.
   */
  fund(
    outputs: readonly Output[],
    selection: Selection,
  ): { transaction: Transaction; coins: Coin[]; change: number } {
    const target = outputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
    const free = this.coins().filter(({ outpoint }) => !this.isLeased(outpoint));
    const { outpoints, satPerKw } = selection;
    const wanted = outpoints
      ? outpoints.map((one) => free.find(({ outpoint }) => outpoint === one))
      : free
          .filter(({ confirmations }) => confirmations > 0 || selection.spendUnconfirmed)
          .toSorted((a, b) => (a.valueSat > b.valueSat ? -1 : 1));
    const coins: Coin[] = [];
    let inSat = 0n;
    const missing = () => target + feeSatOf(coins.length, outputs.length + 1, satPerKw) - inSat;
    for (const coin of wanted) {
      if (!coin) throw new LndError('coin is not available: it is unknown or locked');
      if (coins.length > 0 && missing() <= 0n && !outpoints) break;
      coins.push(coin);
      inSat += coin.valueSat;
    }
    if (missing() > 0n) {
      throw new LndError('insufficient funds available to construct transaction');
    }
    const changeSat = -missing();
    const withChange = changeSat > 330n;
    const all = withChange
      ? [...outputs, { script: this.#newKey().script, valueSat: changeSat }]
      : outputs;
    const transaction = draft(coins, all, this.height);
    return { transaction, coins, change: withChange ? outputs.length : -1 };
  }

  /** Funds, signs and publishes a transaction. */
  pay(outputs: readonly Output[], selection: Selection, label: string): WalletTx {
    const { transaction } = this.fund(outputs, selection);
    signAll(transaction, this.keys);
    return this.publish(transaction.extract(), label);
  }

  /**
   * Publishes like PublishTransaction: the same transaction again succeeds, one that spends spent coins is an error.
   */
  publish(raw: Uint8Array, label: string): WalletTx {
    const transaction = readRaw(raw);
    const known = this.#txs.get(transaction.id);
    if (known) return known;
    const taken = new Set(
      this.list().flatMap(({ inputs }) => inputs.map(({ outpoint }) => outpoint)),
    );
    if (inputsOf(transaction).some((outpoint) => taken.has(outpoint))) {
      throw new LndError('transaction rejected: output already spent');
    }
    return this.#insert(transaction, raw, label);
  }

  /** Mines blocks. The first confirms all unconfirmed transactions; those that conflict with it are forgotten. */
  mine(count: number): void {
    for (let i = 0; i < count; i++) {
      this.height += 1;
      const confirmed = this.list().filter(({ height }) => height === null);
      const spent = new Map<string, string>();
      for (const tx of confirmed) {
        tx.height = this.height;
        for (const { outpoint } of tx.inputs) spent.set(outpoint, tx.txid);
      }
      for (const tx of confirmed) {
        if (tx.inputs.some(({ outpoint }) => spent.get(outpoint) !== tx.txid))
          this.#txs.delete(tx.txid);
        else this.changes.publish({ ...tx });
      }
      this.blocks.publish(this.height);
    }
  }

  /**
   * Makes a transaction with the inputs of an unconfirmed one and a higher fee, which the next block confirms instead.
   */
  replace(txid: string, label = ''): WalletTx {
    const old = this.get(txid);
    if (old.height !== null) throw new Error('a confirmed transaction cannot be replaced');
    const valueSat = old.inputs.reduce((sum, { ownValueSat }) => sum + (ownValueSat ?? 0n), -5000n);
    const coins = old.inputs.map(({ outpoint, ownValueSat }) =>
      this.#coinOf(outpoint, ownValueSat),
    );
    const transaction = draft(coins, [{ script: this.#newKey().script, valueSat }], this.height);
    signAll(transaction, this.keys);
    return this.#insert(transaction, transaction.extract(), label);
  }

  #newKey(): AddressKey {
    const key = newAddressKey();
    this.keys.set(key.script, key);
    return key;
  }

  #coinOf(outpoint: string, valueSat: bigint | null): Coin {
    const [txid = '', vout] = outpoint.split(':');
    const output = this.#txs.get(txid)?.outputs[Number(vout)];
    if (!output || valueSat === null)
      throw new Error('only transactions of the wallet can be replaced');
    return { ...output, outpoint, confirmations: 1 };
  }

  #insert(transaction: Transaction, raw: Uint8Array, label: string): WalletTx {
    const inputs = inputsOf(transaction).map((outpoint) => {
      const [txid = '', vout] = outpoint.split(':');
      const spent = this.#txs.get(txid)?.outputs[Number(vout)];
      return { outpoint, ownValueSat: spent?.isOurs ? spent.valueSat : null };
    });
    const outputs = outputsOf(transaction).map((output) => ({
      ...output,
      address: addressOf(output.script),
      isOurs: this.keys.has(output.script),
    }));
    const seenSecs = Math.floor(this.#nowMs() / 1000);
    const { id: txid } = transaction;
    const tx = {
      txid,
      raw: Buffer.from(raw).toString('hex'),
      inputs,
      outputs,
      seenSecs,
      label,
      height: null,
    };
    this.#txs.set(txid, tx);
    this.changes.publish({ ...tx });
    return tx;
  }
}
