import { describe, expect, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { Transaction } from '@scure/btc-signer';
import { decodeAddress, encodeAddress } from '../../src/codecs/address.ts';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { decodeOffer } from '../../src/codecs/bolt12/index.ts';
import { decodeLnurl } from '../../src/codecs/lnurl.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { formatAmountMsat, parseAmountMsat } from '../../src/model/amount.ts';
import { decodeCredentials } from '../../src/model/credentials.ts';
import { checkPayerProof } from '../../src/model/payer-proof.ts';
import { paymentJson, type TransactionJson } from '../../src/model/payment.ts';
import { paymentIndexInput, updatedIndexInput } from '../../src/model/payment-index.ts';

type Json = Record<string, unknown>;
const routes = [...ROUTES, ...SANDBOX_ROUTES];
const document = openApiDocument(routes, { version: '0', serverUrl: 'http://127.0.0.1:5393' });

/** Every object in the examples of the document. */
const examples = objectsIn(
  routes.map(({ example }) => [example.body, example.query, example.response]),
);
const payments = [
  ...examples,
  ...objectsIn((document.webhooks as Json)['payment.finalized']),
].filter((one) => 'rail' in one && 'status_msg' in one);

function objectsIn(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inside : [value as Json, ...inside];
}

/** Returns every text in the examples whose member has one of these names. */
function textsNamed(...names: readonly string[]): string[] {
  return examples.flatMap((example) =>
    names
      .map((name) => example[name])
      .filter((value): value is string => typeof value === 'string'),
  );
}

function txidOf({ version, lock_time, input, output }: TransactionJson): string {
  const transaction = new Transaction({
    version,
    lockTime: lock_time,
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
    disableScriptCheck: true,
  });
  for (const { previous_output, sequence } of input) {
    const [txid = '', index] = previous_output.split(':');
    transaction.addInput({ txid, index: Number(index), sequence });
  }
  for (const { value, script_pubkey } of output) {
    transaction.addOutput({ amount: BigInt(value), script: hexToBytes(script_pubkey) });
  }
  return bytesToHex(sha256(sha256(transaction.toBytes(false, false))).reverse());
}

describe('the examples of the documentation are true', () => {
  test('there are payments of every rail', () => {
    const rails = new Set(payments.map(({ rail, direction }) => `${direction} ${rail}`));
    expect([...rails].toSorted()).toEqual([
      'inbound invoice',
      'inbound spontaneous',
      'outbound invoice',
      'outbound offer',
      'outbound onchain',
      'outbound spontaneous',
    ]);
  });

  test('a payment has what its rail has, and nothing else', () => {
    for (const example of payments) {
      const payment = paymentJson().parse(example);
      expect(payment.finalized_at === null).toBe(payment.status === 'pending');
      expect(payment.index).toStartWith(String(payment.created_at).padStart(19, '0'));
      expect(payment.updated_at).toBeGreaterThanOrEqual(payment.finalized_at ?? payment.created_at);
      const onchain = payment.rail === 'onchain';
      for (const name of ['txid', 'tx', 'address', 'priority'] as const) {
        expect(payment[name] === null).toBe(!onchain);
      }
      expect(payment.hash === null).toBe(onchain);
      expect(payment.invoice === null).toBe(payment.rail !== 'invoice');
      expect(payment.offer_id === null).toBe(payment.rail !== 'offer');
      if (payment.preimage !== null) {
        expect(bytesToHex(sha256(hexToBytes(payment.preimage)))).toBe(payment.hash as string);
      }
    }
  });

  test('the invoice of a payment is for its hash and amount and expires when it does', () => {
    const withInvoice = examples.filter(
      (one) => typeof one.invoice === 'string' && ('hash' in one || 'payment_hash' in one),
    );
    expect(withInvoice.length).toBeGreaterThan(3);
    for (const example of withInvoice) {
      const decoded = decodeBolt11(String(example.invoice));
      expect(decoded.paymentHash).toBe(String(example.hash ?? example.payment_hash));
      if ('amount' in example) {
        expect(formatAmountMsat(decoded.amountMsat ?? 0n)).toBe(String(example.amount));
      }
      if ('expires_at' in example) expect(decoded.expiresAtMs).toBe(Number(example.expires_at));
      if ('payment_secret' in example) {
        expect(decoded.paymentSecret).toBe(String(example.payment_secret));
        expect(decoded.description).toBe(String(example.description));
      }
    }
  });

  test('a transaction has its id and pays the address', () => {
    const sends = payments.filter(({ tx }) => tx !== null);
    expect(sends.length).toBeGreaterThan(0);
    for (const example of sends) {
      const { tx, txid, address, amount } = paymentJson().parse(example);
      if (!tx) throw new Error('has a transaction');
      expect(txidOf(tx)).toBe(txid as string);
      const paid = tx.output.find(
        ({ script_pubkey }) => encodeAddress(hexToBytes(script_pubkey), 'regtest') === address,
      );
      expect(String(paid?.value)).toBe(amount as string);
    }
  });

  test('every payment string can be read', () => {
    for (const text of textsNamed('pr')) decodeBolt11(text);
    for (const text of textsNamed('offer')) decodeOffer(text);
    for (const text of textsNamed('address')) decodeAddress(text);
    const services = examples.filter(({ lnurl }) => typeof lnurl === 'string');
    expect(services.length).toBeGreaterThan(1);
    for (const { lnurl, url } of services) {
      const read = decodeLnurl(String(lnurl));
      if (url !== undefined) expect(read.url).toBe(String(url));
    }
    const purchase = textsNamed('redirect_url').map((url) => url.split('/').at(-1) ?? '');
    expect(decodeBolt11(purchase[0] ?? '').amountMsat).toBe(5_000_000n);
  });

  test('indexes, credentials and the proof are real', () => {
    for (const text of textsNamed('index')) paymentIndexInput().parse(text);
    for (const text of textsNamed('updated_index', 'next_start_index')) {
      updatedIndexInput().parse(text);
    }
    for (const text of textsNamed('client_credentials')) {
      expect(decodeCredentials(text)?.client).toBeDefined();
    }
    const [proof = ''] = textsNamed('proof');
    const checked = examples.find((one) => 'disclosed_types' in one);
    expect(checkPayerProof(proof)).toEqual(checked as ReturnType<typeof checkPayerProof>);
  });

  test('amounts are canonical', () => {
    const amounts = textsNamed(
      'amount',
      'fees',
      'balance',
      'lightning_sendable_balance',
      'channel_value',
      'spent',
    );
    expect(amounts.length).toBeGreaterThan(10);
    for (const text of amounts) {
      expect(formatAmountMsat(parseAmountMsat(text) ?? -1n)).toBe(text);
    }
  });
});
