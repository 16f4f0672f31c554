import type { Command } from 'commander';
import { decodeHumanBitcoinAddress, recordText } from '../../../codecs/human-bitcoin-address.ts';
import { CallFailed } from '../../call-failed.ts';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { printable } from '../../terminal/printable.ts';
import { nameJson } from './one-name.ts';

/** The most characters of one string of a TXT record (RFC 1035, section 3.3). */
const MOST_CHARACTERS = 255;

/** Adds `name dns-record`, which prints the BIP 353 record to publish in the domain's DNS. */
export function addNameDnsRecord(name: Command, io: CliIo): void {
  const command = name
    .command('dns-record')
    .description(
      'Print the TXT record by which payers find the offer of the name (BIP 353). Publish it in the zone of the domain, which must be signed with DNSSEC.',
    );
  withExamples(withConnection(command), 'name dns-record').action(
    async (flags: ConnectionFlags) => {
      const { value } = await sidecarClient(io, flags)(
        (sidecar) => sidecar.humanBitcoinAddress(),
        nameJson,
      );
      const record = recordOf(value.human_bitcoin_address, value.offer, value.lightning_address);
      io.stdout(flags.json ? JSON.stringify(record) : zoneLine(record));
    },
  );
}

interface TxtRecord {
  readonly name: string;
  readonly type: 'TXT';
  readonly text: string;
}

/** Throws {@link CallFailed} where there is nothing that can be published. */
function recordOf(address: string, offer: string | null, lightningAddress: string): TxtRecord {
  if (offer === null) {
    throw new CallFailed(
      `This wallet's node has no offers, so there is no record to publish. Payers reach the name as the Lightning Address ${printable(lightningAddress)}.`,
    );
  }
  const { dnsName, domain } = decodeHumanBitcoinAddress(address);
  if (/[:[]/.test(domain)) {
    throw new CallFailed(
      `The DNS has no records for ${printable(domain)}: start the sidecar with --address-domain and a domain of your own.`,
    );
  }
  return { name: dnsName, type: 'TXT', text: recordText(offer) };
}

/** The record as a line of a zone file (RFC 1035, section 5.1), in strings of at most 255 characters. */
function zoneLine({ name, type, text }: TxtRecord): string {
  const strings = text.match(new RegExp(`.{1,${MOST_CHARACTERS}}`, 'g')) ?? [];
  return printable(`${name}. 3600 IN ${type} ${strings.map((part) => `"${part}"`).join(' ')}`);
}
