import { hex } from '@scure/base';

/** TLV record that holds the message of a spontaneous payment, in UTF-8. */
const MESSAGE_RECORD = '34349334';
/** TLV record with the preimage of a keysend. This record alone makes a keysend, and not LND's flag. */
const KEYSEND_RECORD = '5482373484';

/** Custom records of an HTLC: base64, by record type. */
type Records = Readonly<Record<string, string>>;

/** Returns the records of a keysend, for a request to LND. `preimage` is hex. */
export function keysendRecords(preimage: string, message: string | null): Records {
  const encoded = Buffer.from(hex.decode(preimage)).toString('base64');
  return {
    [KEYSEND_RECORD]: encoded,
    ...(message === null ? {} : { [MESSAGE_RECORD]: Buffer.from(message).toString('base64') }),
  };
}

/** Returns whether a payment is a keysend, by the records of its HTLCs. */
export function isKeysend(records: readonly Records[]): boolean {
  return records.some((record) => KEYSEND_RECORD in record);
}

/** Returns the message that came with a spontaneous payment; null where there is none, or where it is not UTF-8. */
export function messageOf(records: readonly Records[]): string | null {
  const encoded = records.map((record) => record[MESSAGE_RECORD]).find((value) => value);
  if (encoded === undefined) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return null;
  }
}
