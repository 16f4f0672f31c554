import { createHash, randomBytes } from 'node:crypto';
import { encodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { Feed } from './feed.ts';
import type { Identity } from './identity.ts';
import { base64Of, type JsonObject, LndError } from './rpc.ts';

/** An invoice as the node keeps it; bytes are hex. */
export interface Invoice {
  preimage: string;
  readonly hash: string;
  readonly secret: string;
  readonly memo: string;
  readonly descriptionHash: string;
  readonly valueMsat: bigint;
  readonly createdSecs: number;
  readonly expirySecs: number;
  readonly paymentRequest: string;
  readonly addIndex: number;
  readonly isKeysend: boolean;
  readonly isPrivate: boolean;
  state: 'OPEN' | 'ACCEPTED' | 'SETTLED' | 'CANCELED';
  settleIndex: number;
  settledSecs: number;
  paidMsat: bigint;
  records: Readonly<Record<string, string>>;
}

/** The request of AddInvoice. */
export interface NewInvoice {
  readonly preimage?: string;
  /** The hash of a hold invoice, whose preimage the node does not know. */
  readonly hash?: string;
  readonly memo?: string;
  readonly descriptionHash?: string;
  readonly valueMsat?: bigint;
  readonly expirySecs?: number;
  readonly isPrivate?: boolean;
}

/** The node's invoices. */
export class Invoices {
  readonly changes = new Feed<Invoice>();
  /** Every change of state, as SubscribeSingleInvoice reports them; {@link changes} leaves some out. */
  readonly states = new Feed<Invoice>();
  readonly #all: Invoice[] = [];
  readonly #identity: Identity;
  readonly #nowMs: () => number;
  #settled = 0;

  constructor(identity: Identity, nowMs: () => number) {
    this.#identity = identity;
    this.#nowMs = nowMs;
  }

  /** All invoices by add index, after expired ones were canceled, which LND's streams do not report. */
  list(): readonly Invoice[] {
    for (const invoice of this.#all) {
      const endsMs = (invoice.createdSecs + invoice.expirySecs) * 1000;
      if (invoice.state === 'OPEN' && this.#nowMs() > endsMs) invoice.state = 'CANCELED';
    }
    return this.#all;
  }

  get(hash: string): Invoice {
    const invoice = this.list().find((one) => one.hash === hash);
    if (!invoice) throw new LndError('unable to locate invoice', 5);
    return invoice;
  }

  add(options: NewInvoice): Invoice {
    const drawn = () => options.preimage ?? randomBytes(32).toString('hex');
    const preimage = options.hash === undefined ? drawn() : '';
    const hash = options.hash ?? hashOf(preimage);
    if (this.#all.some((one) => one.hash === hash)) {
      throw new LndError('invoice with payment hash already exists');
    }
    const { memo = '', descriptionHash = '', valueMsat = 0n, expirySecs = 86_400 } = options;
    const secret = randomBytes(32).toString('hex');
    const createdSecs = this.#nowSecs();
    const paymentRequest = encodeBolt11(
      {
        network: 'regtest',
        amountMsat: valueMsat === 0n ? null : valueMsat,
        timestampSecs: createdSecs,
        paymentSecret: secret,
        paymentHash: hash,
        ...(descriptionHash === '' ? { description: memo } : { descriptionHash }),
        expirySecs,
        minFinalCltvExpiryDelta: 80,
        features: [8, 14, 17],
      },
      this.#identity.secretKey,
    );
    const isPrivate = options.isPrivate ?? false;
    const fields = { preimage, hash, secret, memo, descriptionHash, valueMsat, expirySecs };
    return this.#keep({ ...fields, createdSecs, paymentRequest, isPrivate, isKeysend: false });
  }

  /** Pays the invoice from another node, in full unless `how` says otherwise. Returns the settled invoice. */
  settle(hash: string, how: { amountMsat?: bigint; preimage?: string } = {}): Invoice {
    const invoice = this.get(hash);
    if (invoice.state === 'CANCELED') throw new LndError('invoice already canceled');
    if (invoice.state === 'SETTLED') throw new LndError('invoice already settled');
    invoice.state = 'SETTLED';
    invoice.paidMsat = how.amountMsat ?? invoice.valueMsat;
    invoice.preimage = how.preimage ?? invoice.preimage;
    invoice.settledSecs = this.#nowSecs();
    this.#settled += 1;
    invoice.settleIndex = this.#settled;
    this.changes.publish({ ...invoice });
    this.states.publish({ ...invoice });
    return invoice;
  }

  /** Settles what is held, with the preimage (SettleInvoice). */
  release(preimage: string): Invoice {
    const invoice = this.get(hashOf(preimage));
    if (invoice.state === 'OPEN') throw new LndError('invoice still open');
    return this.settle(invoice.hash, { preimage, amountMsat: invoice.paidMsat });
  }

  /** Accepts an HTLC without settling it. */
  accept(hash: string): void {
    const invoice = this.get(hash);
    if (invoice.state !== 'OPEN') throw new LndError('invoice is not open');
    invoice.state = 'ACCEPTED';
    invoice.paidMsat = invoice.valueMsat;
    this.states.publish({ ...invoice });
  }

  /**
   * Cancels an invoice. As with LND, canceling again succeeds, canceling a settled invoice is an error, and no stream
   * reports it.
   */
  cancel(hash: string): void {
    const invoice = this.get(hash);
    if (invoice.state === 'SETTLED') throw new LndError('invoice already settled');
    invoice.state = 'CANCELED';
    this.states.publish({ ...invoice });
  }

  /** Receives a spontaneous payment from another node. */
  receiveKeysend(amountMsat: bigint, message?: string): Invoice {
    const preimage = randomBytes(32).toString('hex');
    const invoice = this.#keep({
      ...{ preimage, hash: hashOf(preimage), secret: '', memo: '', descriptionHash: '' },
      ...{ valueMsat: amountMsat, expirySecs: 259_200, createdSecs: this.#nowSecs() },
      ...{ paymentRequest: '', isPrivate: false, isKeysend: true },
    });
    invoice.records = {
      '5482373484': base64Of(preimage),
      ...(message === undefined ? {} : { '34349334': Buffer.from(message).toString('base64') }),
    };
    return this.settle(invoice.hash);
  }

  #keep(fields: Omit<Invoice, keyof typeof UNPAID | 'addIndex'>): Invoice {
    const invoice: Invoice = { ...UNPAID, ...fields, addIndex: this.#all.length + 1 };
    this.#all.push(invoice);
    this.changes.publish({ ...invoice });
    return invoice;
  }

  #nowSecs(): number {
    return Math.floor(this.#nowMs() / 1000);
  }
}

const UNPAID = {
  state: 'OPEN' as Invoice['state'],
  settleIndex: 0,
  settledSecs: 0,
  paidMsat: 0n,
  records: {} as Invoice['records'],
};

/** The SHA-256 of a preimage; both are hex. */
export function hashOf(preimage: string): string {
  return createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
}

/** lnrpc.Invoice */
export function invoiceJson(invoice: Invoice): JsonObject {
  const { state, valueMsat, paidMsat, createdSecs } = invoice;
  const accepted = state === 'SETTLED' || state === 'ACCEPTED';
  const htlc = {
    chan_id: '1',
    htlc_index: '0',
    amt_msat: `${paidMsat}`,
    accept_height: 500,
    accept_time: `${createdSecs}`,
    resolve_time: `${invoice.settledSecs}`,
    expiry_height: 600,
    state,
    custom_records: invoice.records,
    mpp_total_amt_msat: `${invoice.isKeysend ? 0n : paidMsat}`,
    amp: null,
    custom_channel_data: '',
  };
  return {
    memo: invoice.memo,
    r_preimage: base64Of(invoice.preimage),
    r_hash: base64Of(invoice.hash),
    value: `${valueMsat / 1000n}`,
    value_msat: `${valueMsat}`,
    settled: state === 'SETTLED',
    creation_date: `${createdSecs}`,
    settle_date: `${invoice.settledSecs}`,
    payment_request: invoice.paymentRequest,
    description_hash: base64Of(invoice.descriptionHash),
    expiry: `${invoice.expirySecs}`,
    fallback_addr: '',
    cltv_expiry: '80',
    route_hints: [],
    private: invoice.isPrivate,
    add_index: `${invoice.addIndex}`,
    settle_index: `${invoice.settleIndex}`,
    amt_paid: `${paidMsat}`,
    amt_paid_sat: `${paidMsat / 1000n}`,
    amt_paid_msat: `${paidMsat}`,
    state,
    htlcs: accepted ? [htlc] : [],
    features: {},
    is_keysend: invoice.isKeysend,
    payment_addr: base64Of(invoice.secret),
    is_amp: false,
    amp_invoice_state: {},
    is_blinded: false,
    blinded_path_config: null,
  };
}
