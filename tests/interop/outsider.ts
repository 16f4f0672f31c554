import { base64, hex } from '@scure/base';
import { waitUntil } from '../support/until.ts';
import type { LndNode } from './harness/index.ts';

/** An invoice of a node of the harness. */
export interface OutsideInvoice {
  readonly invoice: string;
  /** The payment hash, hex. */
  readonly hash: string;
}

/** An invoice whose receiver holds the HTLC until the test decides it. */
export interface HoldInvoice extends OutsideInvoice {
  /** The preimage, hex. */
  readonly preimage: string;
  /** Resolves once the payer's HTLC is held. */
  accepted(): Promise<unknown>;
  settle(): Promise<unknown>;
  cancel(): Promise<unknown>;
}

/** A payment in LND's list. */
export interface LndPayment {
  readonly payment_hash: string;
  readonly payment_index: string;
  readonly payment_request: string;
  readonly payment_preimage: string;
  readonly status: string;
  readonly value_msat: string;
  readonly fee_msat: string;
  readonly creation_time_ns: string;
  readonly htlcs: readonly { readonly status: string }[];
}

/** LND's payments, those of one hash where one is given. */
export async function lndPayments(node: LndNode, hash?: string): Promise<readonly LndPayment[]> {
  const path = '/v1/payments?include_incomplete=true&max_payments=10000';
  const { payments } = await node.rest<{ payments: LndPayment[] }>('GET', path);
  return payments.filter(({ payment_hash }) => hash === undefined || payment_hash === hash);
}

/** Acts as the other side of the network, without the sidecar. */
export function outsider(node: LndNode) {
  const send = async (body: unknown): Promise<string | undefined> => {
    const [final] = await Array.fromAsync(
      node.stream<{ status: string }>('POST', '/v2/router/send', {
        fee_limit_msat: '10000',
        timeout_seconds: 30,
        no_inflight_updates: true,
        ...(body as object),
      }),
    );
    return final?.status;
  };
  return {
    async invoice(body: Readonly<Record<string, unknown>>): Promise<OutsideInvoice> {
      const made = await node.rest<{ payment_request: string; r_hash: string }>(
        'POST',
        '/v1/invoices',
        body,
      );
      return { invoice: made.payment_request, hash: hex.encode(base64.decode(made.r_hash)) };
    },
    cancel: (hash: string) =>
      node.rest('POST', '/v2/invoices/cancel', { payment_hash: base64.encode(hex.decode(hash)) }),
    /** Pays an invoice and returns LND's final status. */
    pays: (invoice: string, amountMsat?: string) =>
      send({
        payment_request: invoice,
        ...(amountMsat === undefined ? {} : { amt_msat: amountMsat }),
      }),
    /** Sends a keysend, with a message unless it is empty, and returns its hash and LND's final status. */
    async keysends(to: Pick<LndNode, 'pubkey'>, amountMsat: string, message: string) {
      const preimage = crypto.getRandomValues(new Uint8Array(32));
      const hash = await sha256(preimage);
      const status = await send({
        dest: base64.encode(hex.decode(to.pubkey)),
        amt_msat: amountMsat,
        payment_hash: base64.encode(hash),
        dest_custom_records: {
          '5482373484': base64.encode(preimage),
          ...(message && { '34349334': Buffer.from(message).toString('base64') }),
        },
        dest_features: [9],
      });
      return { hash: hex.encode(hash), status };
    },
    /** Sends a spontaneous AMP payment and returns LND's final status. */
    sendsAmp: (to: LndNode, amountMsat: string) =>
      send({ dest: base64.encode(hex.decode(to.pubkey)), amt_msat: amountMsat, amp: true }),
    async holds(amountMsat: string): Promise<HoldInvoice> {
      const preimage = crypto.getRandomValues(new Uint8Array(32));
      const hash = await sha256(preimage);
      const { payment_request } = await node.rest<{ payment_request: string }>(
        'POST',
        '/v2/invoices/hodl',
        { hash: base64.encode(hash), value_msat: amountMsat },
      );
      return {
        invoice: payment_request,
        hash: hex.encode(hash),
        preimage: hex.encode(preimage),
        accepted: () =>
          waitUntil('the HTLC is held', async () => {
            const path = `/v1/invoice/${hex.encode(hash)}`;
            return (await node.rest<{ state: string }>('GET', path)).state === 'ACCEPTED';
          }),
        settle: () =>
          node.rest('POST', '/v2/invoices/settle', { preimage: base64.encode(preimage) }),
        cancel: () =>
          node.rest('POST', '/v2/invoices/cancel', { payment_hash: base64.encode(hash) }),
      };
    },
  };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}
