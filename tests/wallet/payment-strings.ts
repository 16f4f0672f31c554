import { encodeWitnessAddress } from '../../src/codecs/address.ts';
import { encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { encodeLnurl } from '../../src/codecs/lnurl.ts';
import type { Network } from '../../src/codecs/network.ts';
import { ApiError, type ErrorName } from '../../src/model/errors.ts';
import type { LnurlPayRequest, LnurlWithdrawRequest } from '../../src/net/lnurl.ts';
import { serviceFailed } from '../../src/net/service-error.ts';
import type { WalletNode } from '../../src/nodes/node.ts';
import { type Analysis, analyze } from '../../src/wallet/strings/analyze.ts';
import type { PaymentServices } from '../../src/wallet/strings/payment-services.ts';
import { rejection } from '../support/rejection.ts';
import { fakeNode } from './fake-node.ts';

/** An invoice of the test network, valid for an hour by {@link payingNode}'s clock. A null amount is left out. */
export function invoiceOf(
  amountMsat: bigint | null,
  { network = 'regtest', expired = false }: { network?: Network; expired?: boolean } = {},
): string {
  return encodeBolt11(
    {
      network,
      amountMsat,
      timestampSecs: expired ? 1 : 1000,
      expirySecs: expired ? 60 : 3600,
      paymentSecret: '11'.repeat(32),
      paymentHash: '22'.repeat(32),
      description: 'Coffee',
      features: [8, 14],
    },
    new Uint8Array(32).fill(1),
  );
}

/** A segwit address of the network, a different one for each number. */
export function addressOf(number: number, network: Network = 'regtest'): string {
  return encodeWitnessAddress(0, new Uint8Array(20).fill(number), network) ?? '';
}

/** The terms of an LNURL-pay service that accepts 10 to 500 sats. */
export const PAY_TERMS: LnurlPayRequest = {
  tag: 'payRequest',
  callback: 'https://shop.example/cb',
  minSendableMsat: 10_000n,
  maxSendableMsat: 500_000n,
  metadata: '[["text/plain","Shop"]]',
  description: 'Shop',
  longDescription: null,
  commentAllowed: 0,
};

export const WITHDRAW_TERMS: LnurlWithdrawRequest = {
  tag: 'withdrawRequest',
  callback: 'https://shop.example/cb',
  k1: 'k',
  defaultDescription: 'Voucher',
  minWithdrawableMsat: 1000n,
  maxWithdrawableMsat: 2000n,
};

export const PAY_LNURL = encodeLnurl('https://shop.example/pay');
export const WITHDRAW_LNURL = encodeLnurl('https://shop.example/withdraw');
export const DEAD_LNURL = encodeLnurl('https://dead.example/pay');

/**
 * The LNURL services of shop.example, one of them for withdrawing, and the records of names; `asked` lists every URL
 * that was requested.
 */
export function fakeServices(
  records: Readonly<Record<string, string>> = {},
  withdrawal = WITHDRAW_TERMS,
): PaymentServices & { readonly asked: string[] } {
  const asked: string[] = [];
  const unasked = () => Promise.reject(new Error('this was not to be called'));
  return {
    asked,
    requestResource: unasked,
    rates: null,
    lnurl: {
      async discover(url) {
        asked.push(url);
        const { hostname, pathname } = new URL(url);
        if (hostname !== 'shop.example') {
          throw serviceFailed('unreachable', `${hostname} cannot be reached: try later.`);
        }
        return pathname === '/withdraw' ? withdrawal : PAY_TERMS;
      },
      requestInvoice: unasked,
      submitWithdraw: unasked,
    },
    async resolveName({ username, domain }) {
      asked.push(`${username}@${domain}`);
      const record = records[`${username}@${domain}`];
      if (record !== undefined) return record;
      throw new ApiError('notFound', `₿${username}@${domain} has no payment record.`);
    },
  };
}

/** A node on the test network that can pay on every rail. Its clock is at second 1000. */
export function payingNode(): WalletNode {
  return { ...fakeNode().node, offers: {} as NonNullable<WalletNode['offers']> };
}

/** The analysis of a payment string for {@link payingNode}. */
export function analyzed(text: string, services = fakeServices()): Promise<Analysis> {
  return analyze(text, 'payment_string', { node: payingNode() }, services);
}

/** The message of the error that analyzing the string throws, which must be of that kind. */
export async function turnedDown(
  text: string,
  kind: ErrorName,
  services = fakeServices(),
): Promise<string> {
  const error = await rejection(analyzed(text, services));
  if (!(error instanceof ApiError)) throw error;
  if (error.kind !== kind) throw new Error(`error ${error.kind} instead: ${error.message}`);
  return error.message;
}

/** The kinds of methods that a string offers, the most recommended first. */
export async function kindsOf(text: string, services = fakeServices()): Promise<string[]> {
  return (await analyzed(text, services)).payables.map(({ kind }) => kind);
}
