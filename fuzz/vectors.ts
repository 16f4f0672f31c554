import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dir, '..', 'tests', 'vectors');

/** The kinds of strings in the vectors. */
export type VectorKind =
  | 'bolt11'
  | 'offer'
  | 'invoiceRequest'
  | 'invoice'
  | 'proof'
  | 'lnurl'
  | 'address'
  | 'uri'
  | 'name';

const KINDS: readonly (readonly [VectorKind, RegExp])[] = [
  ['lnurl', /^(lnurl1[a-z0-9]|lnurl[pwc]:|keyauth:|https?:)/i],
  ['offer', /^lno1/i],
  ['invoiceRequest', /^lnr1/i],
  ['invoice', /^lni1/i],
  ['proof', /^lnp1/i],
  ['bolt11', /^ln[a-z0-9]{20,}/i],
  ['uri', /^bitcoin:/i],
  ['name', /^[^\s@]+@[^\s@]+$/],
  ['address', /^((bc|tb|bcrt)1[a-z0-9]{8,}|[13mn2][a-km-z1-9]{25,40})$/i],
];

/** Every payment string in tests/vectors, valid and invalid, by kind. */
export const VECTORS: Readonly<Record<VectorKind, readonly string[]>> = collect();

function collect(): Record<VectorKind, string[]> {
  const found: Record<VectorKind, string[]> = {
    bolt11: [],
    offer: [],
    invoiceRequest: [],
    invoice: [],
    proof: [],
    lnurl: [],
    address: [],
    uri: [],
    name: [],
  };
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      const [kind] = KINDS.find(([, pattern]) => pattern.test(value)) ?? [];
      if (kind) found[kind].push(value);
    } else if (value !== null && typeof value === 'object') {
      for (const member of Object.values(value)) visit(member);
    }
  };
  for (const file of readdirSync(FOLDER).toSorted()) {
    if (file.endsWith('.json')) visit(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));
  }
  return found;
}
