import type { ConnectInput, ConnectKind } from '../../model/connect.ts';
import { rejected } from '../../model/errors.ts';
import { inspect, type NodeAccess } from '../remote/inspect.ts';
import { CLN_PROTOCOL } from './protocol.ts';

/** The command `connect cln`: takes access to a Core Lightning as flags. */
export const clnConnect: ConnectKind['connect'] = {
  description:
    'Create credentials from a Core Lightning rune. The command connects to clnrest and prints what the rune allows.',
  argument: null,
  options: [
    {
      flags: '--url <url>',
      description: 'URL of clnrest, such as https://127.0.0.1:3010, with the port of clnrest-port',
    },
    {
      flags: '--cert-path <file>',
      description: 'ca.pem of clnrest; only certificates that it signed are then accepted',
    },
    {
      flags: '--rune-path <file>',
      description: 'file of the rune, as `lightning-cli createrune` prints it; - is stdin',
    },
  ],
  example:
    'connect cln --url https://127.0.0.1:3010 --cert-path ca.pem --rune-path rune > cln.credentials',
  token: CLN_PROTOCOL.tokenName,
  find: async (input) => inspect(CLN_PROTOCOL, accessOf(input), input.proxy),
};

function accessOf({ options, read }: ConnectInput): NodeAccess {
  const { url, certPath, runePath } = options;
  if (url === undefined || runePath === undefined) {
    throw rejected('', 'Give --url and --rune-path.');
  }
  if (URL.parse(url)?.protocol !== 'https:') {
    throw rejected(
      '',
      '--url must begin with https://, since a rune must not be sent in the open.',
    );
  }
  return {
    url: url.replace(/\/+$/, ''),
    cert: certPath === undefined ? null : textOf(read(certPath)),
    token: runeIn(textOf(read(runePath))),
  };
}

/** The rune in a file: alone, or in what `lightning-cli createrune` prints. */
function runeIn(text: string): string {
  return /"rune"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? text.trim();
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
