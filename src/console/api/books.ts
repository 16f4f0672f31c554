import { text } from '../texts/index.ts';
import type { Sidecar } from './sidecar.ts';

/** How the last line begins where rows are missing. */
const INCOMPLETE = /\n[^,"\n]*,,,incomplete,[^\n]*\n$/;

/** Lets the browser save the books (docs/decisions.md 192). Throws, saving nothing, where rows are missing. */
export async function saveBooks({ transport }: Sidecar): Promise<void> {
  const query = { format: 'csv' };
  const rows = await transport.open('/v2/node/export', { query, mediaType: 'text/csv' });
  const file = await new Response(rows, { headers: { 'content-type': 'text/csv' } }).blob();
  // The browser keeps a long file out of memory, so only its end is read.
  if (INCOMPLETE.test(await file.slice(-4096).text())) throw new Error(text.payments.csvIncomplete);
  saveFile('books.csv', file);
}

function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
