import { type DnsName, showDnsName } from '../../codecs/dns/index.ts';
import { foreignText } from '../foreign-text.ts';

/** Records that are not proven to be what their zone says; the message is whole sentences for the payer. */
export class Unproven extends Error {
  override readonly name = 'Unproven';
}

/** A name for messages, which may come from outside. */
export function shown(name: DnsName): string {
  return foreignText(showDnsName(name), { maxCharacters: 100 });
}
