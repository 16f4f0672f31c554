import type { ConnectInput, ConnectKind } from '../../../model/connect.ts';
import { ApiError, isApiError } from '../../../model/errors.ts';
import { locationGiven, noTokenIn, requireFlags } from '../../remote/set-up/connect-input.ts';
import type { ConnectWords } from '../../remote/set-up/connect-words.ts';
import { inspect, type NodeAccess } from '../../remote/set-up/inspect.ts';
import { CLN_PROTOCOL } from '../reads/protocol.ts';
import { ratesOf, readRune } from '../words/rune.ts';

const CLN_WORDS: ConnectWords = {
  title: 'Core Lightning',
  tokenName: 'rune',
  tokenFlag: '--rune-path',
  tokenFile: 'a file with what `lightning-cli createrune` prints',
  certFile: "ca.pem in the network's folder of Core Lightning",
  certPlace: 'The file of --cert-path',
  noCert: "--cert-path is missing: give ca.pem in the network's folder of Core Lightning",
  urlExample: 'https://127.0.0.1:3010',
  port: 'the port of clnrest-port in the configuration of Core Lightning',
  enableTls: 'remove clnrest-protocol=http from the configuration of Core Lightning, restart it',
  nameHosts: 'set clnrest-host of Core Lightning to it',
  other: {
    answers: /Method Not Allowed/,
    sentence: 'is an LND, not a Core Lightning: use `connect lnd` with a macaroon of it.',
  },
};

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
  find: async (input) => {
    const access = accessOf(input);
    tellRates(input, access);
    return inspect(CLN_PROTOCOL, CLN_WORDS, access, input.proxy).catch((error: unknown) => {
      throw isApiError(error, 'forbidden') ? withoutInfo(error) : error;
    });
  },
};

/** A payment is many calls, so that hardly any rate is enough. */
function tellRates({ tell }: Pick<ConnectInput, 'tell'>, { token }: NodeAccess): void {
  const rune = readRune(token);
  const rates = rune === null ? [] : ratesOf(rune);
  if (rates.length === 0) return;
  tell(
    `This rune has a rate (${rates.join(', ')}): Core Lightning refuses calls that follow each other faster, also in the middle of a payment. Better connect with a rune that has none.`,
  );
}

function accessOf(input: ConnectInput): NodeAccess {
  requireFlags(input, { url: '--url', runePath: '--rune-path' });
  const { url = '', runePath = '' } = input.options;
  return {
    ...locationGiven(CLN_WORDS, url, input),
    token: runeIn(input.read(runePath)),
  };
}

/** The rune in a file: alone, or in what `lightning-cli createrune` prints. */
function runeIn(file: Uint8Array): string {
  const text = new TextDecoder().decode(file);
  const rune = /"rune"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? text.trim();
  if (readRune(rune) === null) throw noTokenIn(file, CLN_WORDS);
  return rune;
}

/** The error for a rune that may not call getinfo. */
function withoutInfo(cause: ApiError): ApiError {
  return new ApiError(
    'forbidden',
    'The rune does not allow getinfo, which the sidecar needs in every rune: add "method=getinfo" to the methods that it allows, make it again with `lightning-cli createrune`, and connect with that one.',
    { cause },
  );
}
