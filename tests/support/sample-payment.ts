import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { blankPayment, type Payment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';

/**
 * A pending outbound payment of 1 sat, told apart by a number, with that creation time in milliseconds unless `change`
 * has another.
 */
export function samplePayment(number: number, change: Partial<Payment> = {}): Payment {
  const hash = bytesToHex(sha256(hexToBytes(preimageOf(number))));
  const createdAtMs = change.createdAtMs ?? number;
  return {
    ...blankPayment({
      index: paymentIndex(createdAtMs, paymentId('ln', hash)),
      rail: 'invoice',
      direction: 'outbound',
      status: 'pending',
      statusMsg: 'pending',
      createdAtMs,
      updatedAtMs: createdAtMs,
    }),
    hash,
    amountMsat: 1000n,
    ...change,
  };
}

/** The {@link samplePayment} of that number, completed for a fee of 5 msat, with the preimage that proves it. */
export function sampleDone(number: number, change: Partial<Payment> = {}): Payment {
  return samplePayment(number, {
    status: 'completed',
    statusMsg: 'completed',
    preimage: preimageOf(number),
    finalizedAtMs: 9,
    feesMsat: 5n,
    ...change,
  });
}

/** The {@link samplePayment} of that number, failed. */
export function sampleFailed(number: number, change: Partial<Payment> = {}): Payment {
  return samplePayment(number, {
    status: 'failed',
    statusMsg: 'no route',
    finalizedAtMs: 9,
    ...change,
  });
}

function preimageOf(number: number): string {
  return String(number).padStart(64, '0');
}
