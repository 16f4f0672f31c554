import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { waitUntil } from '../support/until.ts';
import { HELD_LABEL } from './harness/cln-plugins.ts';
import { type ClnNode, ClnRpcError } from './harness/index.ts';
import type { HoldInvoice, OutsideInvoice } from './outsider.ts';

/** The type of the record of a keysend in which wallets expect a message. */
const KEYSEND_MESSAGE = 34349334;

/** A part of a payment, as Core Lightning lists it. */
export interface ClnPart {
  readonly groupid: number;
  readonly status: 'pending' | 'failed' | 'complete';
  readonly label?: string;
  readonly amount_msat: number;
  readonly amount_sent_msat: number;
}

/** The parts of the node's attempts to pay a hash. */
export async function clnParts(node: ClnNode, payment_hash: string): Promise<readonly ClnPart[]> {
  return (await node.rpc<{ payments: ClnPart[] }>('listsendpays', { payment_hash })).payments;
}

/** Acts as the other side of the network, without the sidecar. Only bob of a network holds payments. */
export function clnOutsider(node: ClnNode) {
  async function invoice(
    terms: Readonly<Record<string, unknown>>,
    label: string = crypto.randomUUID(),
  ): Promise<OutsideInvoice> {
    const made = await node.rpc<{ bolt11: string; payment_hash: string }>('invoice', {
      description: '',
      ...terms,
      label,
    });
    return { invoice: made.bolt11, hash: made.payment_hash };
  }
  /** Returns the preimage, or null where the payment failed. */
  async function send(method: string, params: object): Promise<string | null> {
    try {
      return (await node.rpc<{ payment_preimage: string }>(method, params)).payment_preimage;
    } catch (error) {
      if (!(error instanceof ClnRpcError)) throw error;
      return null;
    }
  }

  return {
    invoice,
    /** Makes an offer of any amount. */
    async offer(description: string) {
      const terms = { amount: 'any', description };
      return { offer: (await node.rpc<{ bolt12: string }>('offer', terms)).bolt12 };
    },
    /** Deletes an unpaid invoice, so that a payment to it is refused. */
    async cancel(hash: string) {
      const { invoices } = await node.rpc<{ invoices: { label: string }[] }>('listinvoices', {
        payment_hash: hash,
      });
      await node.rpc('delinvoice', { label: invoices[0]?.label, status: 'unpaid' });
    },
    /** Pays an invoice or an offer and returns whether that succeeded. */
    async pays(invstring: string, amountMsat?: string): Promise<boolean> {
      const amount = amountMsat === undefined ? {} : { amount_msat: amountMsat };
      return (await send('xpay', { invstring, ...amount })) !== null;
    },
    /** Sends a keysend, with a message unless it is empty, and returns its hash, or null where it failed. */
    async keysends(to: Pick<ClnNode, 'pubkey'>, amountMsat: string, message: string) {
      const preimage = await send('xkeysend', {
        destination: to.pubkey,
        amount_msat: amountMsat,
        ...(message && {
          extratlvs: { [KEYSEND_MESSAGE]: Buffer.from(message).toString('hex') },
        }),
      });
      return preimage === null ? null : hex.encode(sha256(hex.decode(preimage)));
    },
    /** An invoice of bob, who holds what it is paid with. */
    async holds(amountMsat: string): Promise<HoldInvoice> {
      const preimage = hex.encode(crypto.getRandomValues(new Uint8Array(32)));
      const label = `${HELD_LABEL}${preimage}`;
      const made = await invoice({ amount_msat: amountMsat, preimage }, label);
      const decide = (settle: boolean) => node.rpc('decide', { label, settle });
      return {
        ...made,
        preimage,
        accepted: () =>
          waitUntil('the HTLC is held', async () =>
            (await node.rpc<{ labels: string[] }>('held')).labels.includes(label),
          ),
        settle: () => decide(true),
        cancel: () => decide(false),
      };
    },
  };
}
