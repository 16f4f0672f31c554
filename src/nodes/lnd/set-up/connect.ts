import type { ConnectedNode, ConnectInput, ConnectKind } from '../../../model/connect.ts';
import { ApiError, isApiError } from '../../../model/errors.ts';
import type { ProxyAddress } from '../../../model/proxy-address.ts';
import { isHttp2Only } from '../../remote/calls/alpn.ts';
import { RemoteEndpoint } from '../../remote/calls/endpoint.ts';
import { inspect } from '../../remote/set-up/inspect.ts';
import { hasNativeSql } from '../reads/database.ts';
import { bakeCommand } from '../reads/grants.ts';
import { LND_PROTOCOL } from '../reads/protocol.ts';
import { type Macaroon, readMacaroon } from '../words/macaroon.ts';
import { accessOf, type LndAccess } from './access.ts';

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
      description:
        'file of the macaroon, such as admin.macaroon, in binary, hex or base64; - is stdin',
    },
  ],
  example:
    'connect lnd --url https://127.0.0.1:8080 --cert-path tls.cert --macaroon-path admin.macaroon > lnd.credentials',
  token: 'macaroon',
  async find(input) {
    const found = await reach(accessOf(input), input);
    await tellDatabase(found, input);
    return found;
  },
};

/** Says where the LND keeps its payments, where that is known: it decides by what an attempt is known. */
async function tellDatabase(
  { version, credentials: { url, cert, token } }: ConnectedNode,
  { proxy, tell }: ConnectInput,
): Promise<void> {
  const endpoint = new RemoteEndpoint({ url, cert }, proxy);
  const rest = LND_PROTOCOL.client({ endpoint, token: () => token }, {});
  if (await hasNativeSql(rest, version)) {
    tell(
      'This LND keeps its payments in native SQL (db.use-native-sql), which the sidecar supports.',
    );
  }
}

/** Connects to the LND; where the URI names the port of gRPC, at the REST port of that host. */
async function reach(access: LndAccess, { proxy, tell }: ConnectInput): Promise<ConnectedNode> {
  const { restUrl } = access;
  if (restUrl === null) {
    return inspectLnd(access, proxy).catch(async (error: unknown) => {
      if (!isUnanswered(error) || !(await isHttp2Only(access, proxy))) throw error;
      throw ofGrpc(access, error);
    });
  }
  try {
    return await inspectLnd(access, proxy);
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    tell(
      `No REST interface answers at ${access.url}, the port that LND has for gRPC: trying ${restUrl}.`,
    );
    return inspectLnd({ ...access, url: restUrl }, proxy);
  }
}

function isUnanswered(error: unknown): error is ApiError {
  return isApiError(error, 'unreachable', 'unreadable', 'timeout');
}

function ofGrpc({ url }: LndAccess, cause: ApiError): ApiError {
  const sentence = `${url} is the gRPC port of an LND: give its REST port, 8080 by default (restlisten in lnd.conf).`;
  return new ApiError(cause.kind, sentence, { cause });
}

function inspectLnd(access: LndAccess, proxy: ProxyAddress | null): Promise<ConnectedNode> {
  return inspect(LND_PROTOCOL, access.words, access, proxy).catch((error: unknown) => {
    const macaroon = readMacaroon(access.token);
    throw macaroon && isApiError(error, 'forbidden') ? withoutInfo(macaroon, error) : error;
  });
}

/** The error for a macaroon that may not call GetInfo, with the command that makes one that may. */
function withoutInfo({ operations }: Macaroon, cause: ApiError): ApiError {
  return new ApiError(
    'forbidden',
    `The macaroon lacks info:read, which the sidecar needs in every macaroon: run "${bakeCommand(operations, ['info:read'])}", and connect with that file.`,
    { cause },
  );
}
