import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64, base64urlnopad, hex } from '@scure/base';
import type { ConnectInput } from '../../../model/connect.ts';
import { rejected } from '../../../model/errors.ts';
import {
  certificateIn,
  locationGiven,
  noTokenIn,
  requireFlags,
} from '../../remote/set-up/connect-input.ts';
import type { ConnectWords } from '../../remote/set-up/connect-words.ts';
import type { NodeAccess } from '../../remote/set-up/inspect.ts';
import { readMacaroon } from '../words/macaroon.ts';

const LND_WORDS: ConnectWords = {
  title: 'LND',
  tokenName: 'macaroon',
  tokenFlag: '--macaroon-path',
  tokenFile: 'admin.macaroon in data/chain/bitcoin/mainnet of the folder of LND',
  certFile: 'tls.cert in the folder of LND',
  certPlace: 'The file of --cert-path',
  noCert: '--cert-path is missing: give tls.cert in the folder of LND',
  urlExample: 'https://127.0.0.1:8080',
  port: 'the REST port, which is 8080 or the one of restlisten in lnd.conf',
  enableTls: 'remove no-rest-tls from lnd.conf, restart LND',
  nameHosts: 'name this host in tlsextradomain or tlsextraip of lnd.conf',
  other: {
    answers: /CLN methods/,
    sentence: 'is a Core Lightning, not an LND: use `connect cln` with a rune of it.',
  },
};

const LND_URI_WORDS: ConnectWords = {
  ...LND_WORDS,
  certPlace: 'The URI',
  noCert: 'the URI holds no certificate: add cert= to it, or give flags',
};

/** Where an LND is, and the macaroon for it, in hex. */
export interface LndAccess extends NodeAccess {
  /** Base URL of the REST port that LND has by default, where a URI names the port of gRPC; null otherwise. */
  readonly restUrl: string | null;
  readonly words: ConnectWords;
}

const GRPC_PORT = '10009';
const REST_PORT = '8080';

/** Reads the access to an LND from the command's input: flags, or an lndconnect:// URI. Throws error 7. */
export function accessOf(input: ConnectInput): LndAccess {
  return input.argument === undefined ? accessByOptions(input) : accessByUri(input);
}

function accessByOptions(input: ConnectInput): LndAccess {
  const flags = { url: '--url', macaroonPath: '--macaroon-path' };
  requireFlags(input, flags, ', or give an lndconnect:// URI alone');
  const { url = '', macaroonPath = '' } = input.options;
  return {
    ...locationGiven(LND_WORDS, url, input),
    token: macaroonIn(input.read(macaroonPath)),
    restUrl: null,
    words: LND_WORDS,
  };
}

function accessByUri({ argument = '', options }: ConnectInput): LndAccess {
  const uri = URL.parse(argument);
  if (uri?.protocol !== 'lndconnect:' || uri.host === '') {
    throw rejected(
      '',
      'The argument must be a URI of the form lndconnect://host:port?cert=...&macaroon=...; a URL goes to --url.',
    );
  }
  if (Object.values(options).some((value) => value !== undefined)) {
    throw rejected('', 'Give either an lndconnect:// URI or flags, not both.');
  }
  const macaroon = uri.searchParams.get('macaroon');
  if (!macaroon) {
    throw rejected(
      '',
      'The URI holds no macaroon: give all of it, between single quotes, since a shell ends the command at "&".',
    );
  }
  const cert = uri.searchParams.get('cert');
  return {
    url: `https://${uri.host}`,
    cert: cert && certificateIn(utf8ToBytes(pemOf(bytesOf(cert))), LND_URI_WORDS),
    token: tokenOf(macaroon),
    restUrl: uri.port === GRPC_PORT ? `https://${uri.hostname}:${REST_PORT}` : null,
    words: LND_URI_WORDS,
  };
}

function tokenOf(macaroon: string): string {
  const macaroonHex = hex.encode(bytesOf(macaroon));
  if (readMacaroon(macaroonHex)) return macaroonHex;
  throw rejected('', 'The macaroon in the URI is incomplete or damaged: copy the whole URI again.');
}

/** The macaroon in a file, in hex: LND's own files are binary, others hold hex or base64. */
function macaroonIn(file: Uint8Array): string {
  const text = new TextDecoder().decode(file).replace(/\s+/g, '');
  const forms = [() => file, () => hex.decode(text.toLowerCase()), () => fromBase64(text)];
  for (const form of forms) {
    const macaroonHex = hexOr(form);
    if (macaroonHex !== null && readMacaroon(macaroonHex)) return macaroonHex;
  }
  throw noTokenIn(file, LND_WORDS);
}

function hexOr(form: () => Uint8Array): string | null {
  try {
    return hex.encode(form());
  } catch {
    return null;
  }
}

function bytesOf(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw rejected('', 'The URI must hold certificate and macaroon in base64url.');
  }
}

/** Decodes base64 in either alphabet, with or without padding. */
function fromBase64(text: string): Uint8Array {
  const urlSafe = text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return base64urlnopad.decode(urlSafe);
}

/** Encodes a certificate as PEM (RFC 7468): base64 in lines of 64 characters. */
function pemOf(der: Uint8Array): string {
  const lines = base64.encode(der).match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
