import type { ClientInfo } from '../../../client/index.ts';
import { text } from '../../texts/index.ts';

/** Returns what people call a client: its label, or the beginning of its public key. */
export function clientName({ label, client_pk }: ClientInfo): string {
  return label ?? text.clients.unnamed(client_pk ?? '');
}
