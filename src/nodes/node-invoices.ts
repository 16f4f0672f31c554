import type { ToldInvoice } from '../model/made-for-receiving.ts';
import type { OwnWords, Payment } from '../model/payment.ts';
import type { PaymentIndex } from '../model/payment-index.ts';

interface DescriptionHash {
  /** Hex SHA-256. */
  readonly hash: string;
  /** The text of that hash, for nodes that make such invoices only from the text; null where the caller lacks it. */
  readonly text: string | null;
}

export interface CreateInvoiceCommand extends OwnWords {
  readonly createdAtMs: number;
  readonly expirationSecs: number;
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  /** What the invoice commits to in place of a description (LUD-06); null otherwise. */
  readonly descriptionHash: DescriptionHash | null;
  /** A message that the payer gave when it asked for the invoice (LUD-12); it is kept with the payment. */
  readonly message: string | null;
  readonly partnerPk: string | null;
  readonly partnerPropFeePpm: number | null;
  readonly partnerBaseFeeMsat: bigint | null;
  /**
   * Hex, 32 bytes. It identifies the invoice before it is made, so that a repeat after a crash makes no second one:
   * creating it again returns the first. With null the node draws one.
   */
  readonly preimage: string | null;
}

export interface CreateHoldInvoiceCommand extends Omit<CreateInvoiceCommand, 'preimage'> {
  /** Hex, 32 bytes. */
  readonly paymentHash: string;
  /** Whether an invoice of the hash that the node has may be returned: an earlier run made it. */
  readonly again: boolean;
}

/** A created invoice and its pending payment; hashes and secrets are hex. */
export interface CreatedInvoice extends ToldInvoice {
  readonly payment: Payment;
  /** What an LSP takes of the payment for opening a channel, in millisatoshis; absent where no LSP has a part in it. */
  readonly lspFeeMsat?: bigint;
}

/** Invoices for a hash whose preimage the node learns when they are settled (docs/decisions.md 116). */
export interface NodeHoldInvoices {
  /**
   * Creates such an invoice; its pending inbound payment is durable when this returns. It becomes {@link isHeld} when
   * the money has arrived. Throws `refused` when the node has an invoice or payment of that hash, unless the command
   * allows to return an earlier invoice of the same terms. {@link WalletNode.cancelInvoice} gives held money back.
   */
  create(command: CreateHoldInvoiceCommand): Promise<CreatedInvoice>;
  /** Completes a held payment; does nothing when it is completed. Throws `refused` when nothing is held. */
  settle(index: PaymentIndex, preimage: string): Promise<void>;
}
