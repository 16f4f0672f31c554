import { renderUnicodeCompact } from 'uqr';

/** The width of the light border in modules. The standard asks for 4, but 2 are enough for readers. */
const BORDER = 2;

/**
 * Returns the lines of a QR code. The light modules are drawn, so that the code is dark on light in a terminal with
 * light text on dark.
 */
export function qrLines(text: string): string[] {
  return renderUnicodeCompact(text, { border: BORDER, ecc: 'L' }).split('\n');
}

/** Returns the QR text of an invoice. The scheme makes phones open a wallet, and capitals make the code smaller. */
export function invoiceQrText(invoice: string): string {
  return `LIGHTNING:${invoice.toUpperCase()}`;
}

/** Returns the QR text of an offer, which has no scheme. */
export function offerQrText(offer: string): string {
  return offer.toUpperCase();
}

/**
 * Returns the QR text of an address. Bech32 addresses are written in capitals, which make the code smaller; in other
 * addresses case matters.
 */
export function addressQrText(address: string): string {
  return /^(bc|tb|bcrt)1/.test(address) ? `BITCOIN:${address.toUpperCase()}` : `bitcoin:${address}`;
}
