import { z } from 'zod';
import { decodeHumanBitcoinAddress, recordText } from '../../codecs/human-bitcoin-address.ts';
import { printable } from '../../lib/printable.ts';
import { CallFailed } from '../call-failed.ts';
import { argument, asking, group } from '../command.ts';
import { oneCall } from '../one-call.ts';

/** The most characters of one string of a TXT record (RFC 1035, section 3.3). */
const MOST_CHARACTERS = 255;

/** The answer about a name, as far as the command line shows it. */
const nameJson = () =>
  z.object({
    human_bitcoin_address: z.string(),
    lightning_address: z.string(),
    offer: z
      .string()
      .regex(/^lno1[0-9a-z]+$/i)
      .nullable(),
    updatable: z.boolean(),
  });

type Name = z.output<ReturnType<typeof nameJson>>;

/** Shows a name to a person. A name without an offer has no BIP 353 record, so payers use its Lightning Address. */
function nameLines({ human_bitcoin_address, lightning_address, offer, updatable }: Name): string[] {
  return [
    ...(offer === null ? [] : [printable(human_bitcoin_address)]),
    printable(lightning_address),
    updatable ? 'It can be changed now.' : 'It cannot be changed now.',
  ];
}

const claim = oneCall('claim', {
  about:
    'Claim or change the name; the wallet must hold 10000 sats. It can be changed for 24 hours, and then not for 90 days.',
  words: {
    username: argument(
      '<username>',
      'the part before the @: 6 to 24 lowercase letters, digits and hyphens',
    ),
  },
  examples: ['name claim satoshi'],
  call: (sidecar, given) => sidecar.claimHumanBitcoinAddress(given),
  answer: nameJson,
  lines: nameLines,
});

const show = oneCall('show', {
  about: "Show the wallet's name.",
  examples: ['name show'],
  call: (sidecar) => sidecar.humanBitcoinAddress(),
  answer: nameJson,
  lines: nameLines,
});

const dnsRecord = asking(
  'dns-record',
  {
    about:
      'Print the TXT record by which payers find the offer of the name (BIP 353). Publish it in the zone of the domain, which must be signed with DNSSEC.',
    examples: ['name dns-record'],
  },
  async (_, { io, flags, ask }) => {
    const { value } = await ask((sidecar) => sidecar.humanBitcoinAddress(), nameJson());
    const record = recordOf(value);
    io.stdout(flags.json ? JSON.stringify(record) : zoneLine(record));
  },
);

/** Adds `name`, the commands for the wallet's Human Bitcoin Address. */
export const addName = group(
  'name',
  {
    about: "The wallet's Human Bitcoin Address.",
    examples: ['name claim satoshi', 'name show', 'name dns-record'],
  },
  [claim, show, dnsRecord],
);

interface TxtRecord {
  readonly name: string;
  readonly type: 'TXT';
  readonly text: string;
}

/** Throws {@link CallFailed} where there is nothing that can be published. */
function recordOf({ human_bitcoin_address, offer, lightning_address }: Name): TxtRecord {
  if (offer === null) {
    throw new CallFailed(
      `This wallet's node has no offers, so there is no record to publish. Payers reach the name as the Lightning Address ${printable(lightning_address)}.`,
    );
  }
  const { dnsName, domain } = decodeHumanBitcoinAddress(human_bitcoin_address);
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
