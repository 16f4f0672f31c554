import { encodeBigSize, readBigSize } from '../bigsize.ts';
import {
  type FieldValues,
  field,
  fixedHex,
  hexList,
  INVOICE_FIELDS,
  isInvoiceType,
  utf8Text,
  type ValueCodec,
} from '../bolt12/index.ts';
import { joinBytes } from '../tlv.ts';

/** Codec of markers: a row of minimal BigSize numbers. A number that is cut short or not minimal is invalid. */
const bigSizeList: ValueCodec<readonly bigint[]> = {
  decode: (value, invalid) => {
    const numbers: bigint[] = [];
    for (let offset = 0; offset < value.length; ) {
      const number = readBigSize(value, offset, () =>
        invalid('is not a list of minimal BigSize numbers'),
      );
      numbers.push(number.value);
      offset = number.end;
    }
    return numbers;
  },
  encode: (numbers) => joinBytes(numbers.map(encodeBigSize)),
};

const { invreqMetadata: _secret, ...DISCLOSABLE_INVOICE_FIELDS } = INVOICE_FIELDS;

/** The fields of a payer proof: those of the invoice except `invreq_metadata`, and the proof's own. */
export const PAYER_PROOF_FIELDS = {
  ...DISCLOSABLE_INVOICE_FIELDS,
  proofSignature: field(241n, 'proof_signature', fixedHex(64)),
  proofPreimage: field(1001n, 'proof_preimage', fixedHex(32)),
  proofOmittedTlvs: field(1002n, 'proof_omitted_tlvs', bigSizeList),
  proofMissingHashes: field(1003n, 'proof_missing_hashes', hexList(32)),
  proofLeafHashes: field(1004n, 'proof_leaf_hashes', hexList(32)),
  proofNote: field(1005n, 'proof_note', utf8Text),
};

/** The values of all fields that a payer proof may have; null for a field that is omitted or absent. */
export type PayerProofValues = FieldValues<typeof PAYER_PROOF_FIELDS>;

/** The subject of the payer's signature of a proof. */
export const PROOF_SIGNATURE = { message: 'payer_proof', field: 'proof_signature' } as const;

/**
 * Returns whether a payer proof may disclose a field of an invoice. It never discloses `invreq_metadata` (0), with
 * which the omitted fields could be guessed, nor types outside the invoice's ranges, such as signatures and proof data.
 */
export function isDisclosableType(type: bigint): boolean {
  return type !== 0n && isInvoiceType(type);
}

/** The highest type of an invoice's fields in any range. */
export const LAST_INVOICE_TYPE = 3_999_999_999n;
