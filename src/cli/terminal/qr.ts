import { renderUnicodeCompact } from 'uqr';
import type { CliIo } from '../io.ts';

/** The width of the light border in modules. The standard asks for 4, but 2 are enough for readers. */
const BORDER = 2;

/** White on black of the palette that themes do not change. */
const COLOURS = '\u001b[38;5;231;48;5;16m';
const NO_COLOURS = '\u001b[0m';

/**
 * Returns the lines of a QR code. The light modules are drawn. On a terminal their colours are set, so that the code is
 * dark on light whatever the theme is; elsewhere the lines have no colours. Returns no lines where the code is wider
 * than the terminal, and says so on stderr: a code whose lines are broken cannot be read.
 */
export function qrLines({ terminal, stderr }: CliIo, text: string): string[] {
  const lines = renderUnicodeCompact(text, { border: BORDER, ecc: 'L' }).split('\n');
  if (terminal.columns === null) return lines;
  const width = lines[0]?.length ?? 0;
  if (width <= terminal.columns) return lines.map((line) => `${COLOURS}${line}${NO_COLOURS}`);
  stderr(`The QR code is not shown: it needs a terminal of ${width} columns.`);
  return [];
}

/** Returns the QR text of an invoice. The scheme makes phones open a wallet, and capitals make the code smaller. */
export function invoiceQrText(invoice: string): string {
  return `LIGHTNING:${invoice.toUpperCase()}`;
}

/** Returns the QR text of an offer, which has no scheme. */
export function offerQrText(offer: string): string {
  return offer.toUpperCase();
}

/** Returns the QR text of an address: bech32 in capitals, which make the code smaller; in others case matters. */
export function addressQrText(address: string): string {
  return /^(bc|tb|bcrt)1/.test(address) ? `BITCOIN:${address.toUpperCase()}` : `bitcoin:${address}`;
}
