import { encodeBolt12String } from '../../../src/codecs/bolt12/index.ts';
import { encodeTlvStream, type TlvRecord } from '../../../src/codecs/tlv.ts';
import { PAYER_KEY, patchRecords, signStream } from '../../support/bolt12-fixtures.ts';

const SUBJECT = { message: 'payer_proof', field: 'proof_signature' } as const;

type Patch = readonly (readonly [bigint, Uint8Array | null])[];

/** Returns a proof with replaced fields and the payer's old signature; null removes a field. */
export function patchProof(records: readonly TlvRecord[], patch: Patch): string {
  return encodeBolt12String('lnp', encodeTlvStream(patchRecords(records, new Map(patch))));
}

/** Returns a proof with replaced fields, signed again by the payer, so that only the tested rule can fail. */
export function resignProof(records: readonly TlvRecord[], patch: Patch, key = PAYER_KEY): string {
  const patched = patchRecords(records, new Map(patch));
  return encodeBolt12String('lnp', signStream(patched, SUBJECT, key));
}
