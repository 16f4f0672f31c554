import { type DnsName, showDnsName } from '../../codecs/dns/index.ts';
import { foreignText } from '../foreign-text.ts';

/** Records that are not proven to be those of their zone. The message is whole sentences for the payer. */
export class Unproven extends Error {
  override readonly name = 'Unproven';
}

/** Returns a name, which may come from outside, in a form that is safe in messages. */
export function shown(name: DnsName): string {
  return foreignText(showDnsName(name), { maxCharacters: 100 });
}
