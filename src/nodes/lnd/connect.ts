import { base64, base64urlnopad, hex } from '@scure/base';
import type { ConnectedNode, ConnectInput, ConnectKind } from '../../model/connect.ts';
import { rejected } from '../../model/errors.ts';
import { RemoteEndpoint } from '../remote/endpoint.ts';
import type { RemoteLocation } from '../remote/location.ts';
import { permissionsOf, servedByLnd } from './grants.ts';
import { readInfo, versionOf } from './info.ts';
import { readMacaroon } from './macaroon.ts';
import { LndRest } from './rest.ts';

/** The command `connect lnd`: takes access to an LND as flags, or as the lndconnect:// URI that mobile wallets scan. */
export const lndConnect: ConnectKind['connect'] = {
  description:
    'Create credentials from an LND macaroon. The command connects to LND and prints what the macaroon allows.',
  argument: {
    name: 'uri',
    description: 'lndconnect://host:port?cert=...&macaroon=..., with the REST port',
  },
  options: [
    { flags: '--url <url>', description: 'REST URL of the LND, such as https://127.0.0.1:8080' },
    {
      flags: '--cert-path <file>',
      description: 'tls.cert of the LND, which is then the only certificate accepted',
    },
    {
      flags: '--macaroon-path <file>',
      description: 'file of the macaroon, such as admin.macaroon',
    },
  ],
  example:
    'connect lnd --url https://127.0.0.1:8080 --cert-path tls.cert --macaroon-path admin.macaroon > lnd.credentials',
  token: 'macaroon',
  find: (input) =>
    inspect(input.argument === undefined ? accessByOptions(input) : accessByUri(input)),
};

/** Where an LND is, and the macaroon for it. */
interface LndAccess extends RemoteLocation {
  readonly macaroonHex: string;
}

/** Connects to an LND and finds out its identity and what the macaroon allows there. */
async function inspect({ url, cert, macaroonHex }: LndAccess): Promise<ConnectedNode> {
  const macaroon = readMacaroon(macaroonHex);
  if (!macaroon) throw rejected('', 'This is not a macaroon of LND: give another one.');
  const endpoint = new RemoteEndpoint({ url, cert });
  const { info, network } = await readInfo(new LndRest(endpoint, macaroonHex));
  const nodePk = info.identity_pubkey;
  return {
    version: versionOf(info),
    permissions: servedByLnd(permissionsOf(macaroon.operations)),
    credentials: { kind: 'lnd', url, cert, nodePk, network, token: macaroonHex },
  };
}

function accessByOptions({ options, read }: ConnectInput): LndAccess {
  const { url, certPath, macaroonPath } = options;
  if (url === undefined || macaroonPath === undefined) {
    throw rejected('', 'Give --url and --macaroon-path, or an lndconnect:// URI.');
  }
  if (URL.parse(url)?.protocol !== 'https:') throw rejected('', '--url must begin with https://.');
  return {
    url: url.replace(/\/+$/, ''),
    cert: certPath === undefined ? null : new TextDecoder().decode(read(certPath)),
    macaroonHex: hex.encode(read(macaroonPath)),
  };
}

function accessByUri({ argument = '', options }: ConnectInput): LndAccess {
  const uri = URL.parse(argument);
  const macaroon = uri?.searchParams.get('macaroon');
  if (uri?.protocol !== 'lndconnect:' || !macaroon || uri.host === '') {
    throw rejected('', 'The URI must have the form lndconnect://host:port?cert=...&macaroon=...');
  }
  if (Object.values(options).some((value) => value !== undefined)) {
    throw rejected('', 'Give either an lndconnect:// URI or flags, not both.');
  }
  const cert = uri.searchParams.get('cert');
  return {
    url: `https://${uri.host}`,
    cert: cert && pemOf(bytesOf(cert)),
    macaroonHex: hex.encode(bytesOf(macaroon)),
  };
}

function bytesOf(text: string): Uint8Array {
  try {
    return base64urlnopad.decode(text.replace(/=+$/, ''));
  } catch {
    throw rejected('', 'The URI must hold certificate and macaroon in base64url.');
  }
}

/** Encodes a certificate as PEM (RFC 7468): base64 in lines of 64 characters. */
function pemOf(der: Uint8Array): string {
  const lines = base64.encode(der).match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
