/** Returns the dark modules of a QR code as an SVG path, a rectangle for each run of a row. */
export function qrPath(rows: readonly (readonly boolean[])[]): string {
  return rows
    .flatMap((row, y) =>
      row.flatMap((isDark, x) => {
        if (!isDark || row[x - 1]) return [];
        const end = row.indexOf(false, x);
        return `M${x} ${y}h${(end === -1 ? row.length : end) - x}v1h-${(end === -1 ? row.length : end) - x}z`;
      }),
    )
    .join('');
}

/** Returns the QR text of an invoice. The scheme makes phones open a wallet, and capitals make the code smaller. */
export function invoiceQrText(invoice: string): string {
  return `LIGHTNING:${invoice.toUpperCase()}`;
}

/** Returns the QR text of an address. Bech32 is written in capitals; in other addresses case matters. */
export function addressQrText(address: string): string {
  return /^(bc|tb|bcrt)1/.test(address) ? `BITCOIN:${address.toUpperCase()}` : `bitcoin:${address}`;
}
