/** TLV record of a spontaneous payment's message, UTF-8. */
const MESSAGE_RECORD = '34349334';
/** TLV record of a keysend's preimage: its presence, not LND's flag alone, makes a keysend. */
const KEYSEND_RECORD = '5482373484';

/** Custom records of an HTLC, base64 by their type. */
type Records = Readonly<Record<string, string>>;

/** Whether an HTLC's records make its payment a keysend. */
export function isKeysend(records: readonly Records[]): boolean {
  return records.some((record) => KEYSEND_RECORD in record);
}

/** The text that came with a spontaneous payment; what is no UTF-8 text is no message. */
export function messageOf(records: readonly Records[]): string | null {
  const encoded = records.map((record) => record[MESSAGE_RECORD]).find((value) => value);
  if (encoded === undefined) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return null;
  }
}
