import { renderUnicodeCompact } from 'uqr';

/** Modules of quiet zone on each side; the standard asks for 4, and readers are content with 2. */
const BORDER = 2;

/**
 * Lines of a QR code: light modules are drawn, so that it stands dark on light in a terminal of light text. What is
 * written in one case in bech32 and bech32m is put in capitals, which need a smaller code.
 */
export function qrLines(text: string): string[] {
  return renderUnicodeCompact(text, { border: BORDER, ecc: 'L' }).split('\n');
}

/** The QR text of an invoice: a wallet opens by its scheme. */
export function invoiceQrText(invoice: string): string {
  return `LIGHTNING:${invoice.toUpperCase()}`;
}

/** The QR text of an offer, for which there is no scheme of its own. */
export function offerQrText(offer: string): string {
  return offer.toUpperCase();
}

/** The QR text of an address: in capitals only where case carries nothing, which is in bech32. */
export function addressQrText(address: string): string {
  return /^(bc|tb|bcrt)1/.test(address) ? `BITCOIN:${address.toUpperCase()}` : `bitcoin:${address}`;
}
