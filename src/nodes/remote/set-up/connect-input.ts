import { X509Certificate } from 'node:crypto';
import { base64urlnopad, hex } from '@scure/base';
import type { ConnectInput } from '../../../model/connect.ts';
import { type ApiError, rejected } from '../../../model/errors.ts';
import type { RemoteLocation } from '../calls/location.ts';
import type { ConnectWords } from './connect-words.ts';

/** Reads what people give to the command `connect`, and tells them what is wrong with it. All throw error 7. */

/** Where the node is, by the flags --url and --cert-path. */
export function locationGiven(
  words: ConnectWords,
  url: string,
  { options, read }: ConnectInput,
): RemoteLocation {
  const { certPath } = options;
  return {
    url: urlGiven(words, url),
    cert: certPath === undefined ? null : certificateIn(read(certPath), words),
  };
}

function urlGiven({ title, tokenName, urlExample, enableTls }: ConnectWords, text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:') {
    throw wrong(
      `--url begins with http://, but a ${tokenName} must not be sent without TLS: give the URL with https://. If ${title} speaks http alone, ${enableTls} and try again.`,
    );
  }
  if (url?.protocol !== 'https:') {
    throw wrong(`--url must be a whole URL that begins with https://, such as ${urlExample}.`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw wrong(`--url must hold no user, query or fragment: give it as ${urlExample}.`);
  }
  return text.replace(/\/+$/, '');
}

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** The certificates in a file, in PEM. */
export function certificateIn(file: Uint8Array, { certFile, certPlace }: ConnectWords): string {
  const text = new TextDecoder().decode(file);
  if (text.trim() === '') throw wrong(`${certPlace} is empty: give ${certFile}.`);
  if (CERTIFICATE.test(text)) {
    if (isCertificate(text)) return text;
    throw wrong(
      `${certPlace} holds a certificate that is incomplete or damaged: copy ${certFile} again.`,
    );
  }
  if (PRIVATE_KEY.test(text)) {
    throw wrong(
      `${certPlace} holds a private key, not a certificate: give ${certFile}, and keep the key where it was.`,
    );
  }
  if (isCertificate(file)) {
    throw wrong(
      `${certPlace} holds a certificate in binary form: give ${certFile}, which is text (PEM).`,
    );
  }
  throw wrong(
    `${certPlace} holds no certificate, which begins with -----BEGIN CERTIFICATE-----: give ${certFile}.`,
  );
}

function isCertificate(content: string | Uint8Array): boolean {
  try {
    return new X509Certificate(content).raw.length > 0;
  } catch {
    return false;
  }
}

/** How every macaroon of LND begins, in binary, hex and base64: the format, and LND's name as the location. */
const MACAROON: readonly string[] = ['\u0002\u0001\u0003lnd', '0201036c6e64', 'AgEDbG5k'];
/** What a rune holds: 32 bytes of signature, and as the first restriction its number. */
const RUNE = /^[\s\S]{32}=\d*/;

/** The error for a file without a token: what it holds instead, as far as that can be seen. */
export function noTokenIn(file: Uint8Array, words: ConnectWords): ApiError {
  const { title, tokenName, tokenFlag, tokenFile } = words;
  const text = latin1(file).trim();
  if (text === '') return wrong(`The file of ${tokenFlag} is empty: give ${tokenFile}.`);
  const held = otherIn(text, tokenName);
  return held === null
    ? wrong(`The file of ${tokenFlag} holds no ${tokenName} of ${title}: give ${tokenFile}.`)
    : wrong(`The file of ${tokenFlag} holds ${held.what}: ${held.next ?? `give ${tokenFile}`}.`);
}

/** What a text is that is not a whole token of that name, and what to do where that is not to give another file. */
function otherIn(text: string, tokenName: string): { what: string; next?: string } | null {
  if (CERTIFICATE.test(text)) return { what: `a certificate, not a ${tokenName}` };
  if (PRIVATE_KEY.test(text)) return { what: `a private key, not a ${tokenName}` };
  if (MACAROON.some((start) => text.toLowerCase().startsWith(start.toLowerCase()))) {
    return tokenName === 'macaroon'
      ? { what: 'a macaroon that is incomplete or damaged', next: 'copy it again' }
      : {
          what: `a macaroon of LND, not a ${tokenName}`,
          next: 'use `connect lnd` for an LND, or give a rune',
        };
  }
  if (isRune(text)) {
    return tokenName === 'rune'
      ? { what: 'a rune that is incomplete or damaged', next: 'copy it again' }
      : {
          what: `a rune of Core Lightning, not a ${tokenName}`,
          next: 'use `connect cln` for a Core Lightning, or give a macaroon',
        };
  }
  if (tokenName === 'rune' && [fromHex(text), fromBase64(text)].some((one) => isRune(one.trim()))) {
    return { what: 'a rune in hex or in base64 once more' };
  }
  return text.startsWith('{') ? { what: `JSON without a ${tokenName}` } : null;
}

function isRune(text: string): boolean {
  return RUNE.test(fromBase64(text));
}

/** What a text in hex holds, as characters of one byte; empty where it is not in hex. */
function fromHex(text: string): string {
  return latin1OrNone(() => hex.decode(text.toLowerCase()));
}

/** {@link fromHex} for base64 in either alphabet, as far as its characters make whole bytes. */
function fromBase64(text: string): string {
  const urlSafe = text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return latin1OrNone(() => base64urlnopad.decode(urlSafe.slice(0, urlSafe.length & ~3)));
}

function latin1OrNone(read: () => Uint8Array): string {
  try {
    return latin1(read());
  } catch {
    return '';
  }
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
}

/** Makes sure that each flag is given, by its name in the input and as it is written. */
export function requireFlags(
  { options }: ConnectInput,
  flags: Readonly<Record<string, string>>,
  otherwise = '',
): void {
  const missing = Object.entries(flags)
    .filter(([name]) => options[name] === undefined)
    .map(([, flag]) => flag);
  if (missing.length === 0) return;
  const verb = missing.length === 1 ? 'is' : 'are';
  throw wrong(
    `${missing.join(' and ')} ${verb} missing: give ${missing.length === 1 ? 'it' : 'them'}${otherwise}. --help shows an example.`,
  );
}

function wrong(sentence: string): ApiError {
  return rejected('', sentence);
}
