import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Network } from '../codecs/network.ts';
import { ConfigError } from '../config/sources.ts';
import { encodeNodeCredentials, type NodeCredentials } from '../model/credentials.ts';
import type { Permission } from '../model/permissions.ts';
import { withExamples } from './examples.ts';
import type { CliIo } from './io.ts';

/** Where an LND is and what opens it, as files and URIs give it. */
export interface LndAccess {
  /** REST URL. */
  readonly url: string;
  /** PEM; null trusts the system's certificate authorities. */
  readonly cert: string | null;
  readonly macaroonHex: string;
}

/** What an LND was found to be. */
export interface ConnectedLnd {
  readonly version: string;
  readonly nodePk: string;
  readonly network: Network;
  /** What the macaroon is good for. */
  readonly permissions: readonly Permission[];
  readonly credentials: NodeCredentials & { readonly nodePk: string; readonly network: Network };
}

/** Asks an LND who it is and what a macaroon may do; passed in, since only the composition root knows nodes. */
export type ConnectLnd = (access: LndAccess) => Promise<ConnectedLnd>;

interface LndFlags {
  readonly url?: string;
  readonly certPath?: string;
  readonly macaroonPath?: string;
  readonly json?: boolean;
}

/** `connect lnd`: turns access to a node into client credentials, after checking that it works. */
export function addConnect(parent: Command, io: CliIo, connectLnd: ConnectLnd): void {
  const example =
    'connect lnd --url https://127.0.0.1:8080 --cert-path tls.cert --macaroon-path admin.macaroon > lnd.credentials';
  const connect = parent
    .command('connect')
    .description('Turn access to a wallet node into client credentials.');
  withExamples(connect, example);
  const command = connect
    .command('lnd')
    .description('Credentials for an LND, checked against it.')
    .argument('[uri]', 'lndconnect://host:port?cert=...&macaroon=..., with the REST port')
    .option('--url <url>', 'REST URL of the LND, such as https://127.0.0.1:8080')
    .option('--cert-path <file>', 'its tls.cert, then the only certificate accepted')
    .option('--macaroon-path <file>', 'the macaroon to use')
    .option('--json', 'print JSON');
  withExamples(command, example).action(async (uri: string | undefined, flags: LndFlags) => {
    const access = uri === undefined ? accessOfFlags(flags) : accessOfUri(uri, flags);
    const found = await connectLnd(access);
    const credentials = encodeNodeCredentials(found.credentials);
    const { version, nodePk, network, permissions } = found;
    if (flags.json) {
      io.stdout(
        JSON.stringify({
          client_credentials: credentials,
          version,
          node_pk: nodePk,
          network,
          permissions,
        }),
      );
      return;
    }
    io.stderr(`LND ${version} on ${network}, node ${nodePk}`);
    io.stderr(`These credentials may: ${permissions.join(', ')}.`);
    io.stderr(
      'Give them to the sidecar in a file: --client-credentials-path, or --node-credentials-path for a further node.',
    );
    io.stderr(
      'Keep them secret: they hold the macaroon. Applications get credentials of their own.',
    );
    io.stdout(credentials);
  });
}

function accessOfFlags({ url, certPath, macaroonPath }: LndFlags): LndAccess {
  if (url === undefined || macaroonPath === undefined) {
    throw new ConfigError('Give --url and --macaroon-path, or an lndconnect:// URI.');
  }
  if (URL.parse(url)?.protocol !== 'https:')
    throw new ConfigError('--url must begin with https://.');
  return {
    url: url.replace(/\/+$/, ''),
    cert: certPath === undefined ? null : read(certPath).toString('utf8'),
    macaroonHex: read(macaroonPath).toString('hex'),
  };
}

function accessOfUri(text: string, flags: LndFlags): LndAccess {
  const uri = URL.parse(text);
  const macaroon = uri?.searchParams.get('macaroon');
  if (uri?.protocol !== 'lndconnect:' || !macaroon || uri.host === '') {
    throw new ConfigError('The URI must read lndconnect://host:port?cert=...&macaroon=....');
  }
  if (flags.url !== undefined || flags.certPath !== undefined || flags.macaroonPath !== undefined) {
    throw new ConfigError('Give either an lndconnect:// URI or flags, not both.');
  }
  const cert = uri.searchParams.get('cert');
  return {
    url: `https://${uri.host}`,
    cert: cert && pemOf(Buffer.from(cert, 'base64url')),
    macaroonHex: Buffer.from(macaroon, 'base64url').toString('hex'),
  };
}

/** RFC 7468: base64 in lines of 64 characters. */
function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw new ConfigError(`${path} cannot be read: check the path.`);
  }
}
