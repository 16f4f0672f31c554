import type { ConnectedNode } from '../../../model/connect.ts';
import { ApiError, isApiError, rejected } from '../../../model/errors.ts';
import type { ProxyAddress } from '../../../model/proxy-address.ts';
import { RemoteEndpoint } from '../calls/endpoint.ts';
import type { RemoteLocation } from '../calls/location.ts';
import type { RemoteProtocol } from '../place/protocol.ts';
import { connectFailed } from './connect-failed.ts';
import type { ConnectWords } from './connect-words.ts';

/** Where a node is, and the token for it. */
export interface NodeAccess extends RemoteLocation {
  readonly token: string;
}

/** Finds out a node's identity and what the token allows. Throws `ApiError` in words for `connect`. */
export async function inspect<Client, Token>(
  protocol: RemoteProtocol<Client, Token>,
  words: ConnectWords,
  { url, cert, token }: NodeAccess,
  proxy: ProxyAddress | null,
): Promise<ConnectedNode> {
  const { kind, title, tokenName } = protocol;
  const content = protocol.readToken(token);
  if (content === null) {
    throw rejected('', `This is not a ${tokenName} of ${title}: give another one.`);
  }
  const endpoint = new RemoteEndpoint({ url, cert }, proxy);
  const client = protocol.client({ endpoint, token: () => token }, {});
  const { nodePk, network, version } = await protocol.identify(client).catch((error: unknown) => {
    if (!isApiError(error, 'unauthenticated')) throw connectFailed(words, { url, cert }, error);
    throw new ApiError(
      'unauthenticated',
      `${title} does not accept this ${tokenName}: take one of this node, which has not expired or been deleted.`,
      { cause: error },
    );
  });
  return {
    version,
    permissions: protocol.grantOf(content).served,
    credentials: { kind, url, cert, nodePk, network, token },
  };
}
