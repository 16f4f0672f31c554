import type { RemoteKind } from '../../../model/node-kind.ts';
import type { TokenGrant } from '../../connector.ts';
import type { RemoteEvents, RemoteTarget } from '../calls/calls.ts';
import type { NodeIdentity } from './identity.ts';

/** What a place must know of the kind of its node. `Client` makes calls with one token. */
export interface PlaceProtocol<Client> {
  readonly kind: RemoteKind;
  /** What people call a node of the kind. */
  readonly title: string;
  /** What the kind calls its tokens, such as macaroon. */
  readonly tokenName: string;
  /** A client whose calls go to the target. It is asked before each call, because the place may change. */
  client(target: RemoteTarget | (() => Promise<RemoteTarget>), events: RemoteEvents): Client;
  /** Asks the node who it is. Throws `ApiError`. */
  identify(client: Client): Promise<NodeIdentity & { readonly version: string }>;
  /** Has the node sign the message, in z-base-32. Throws `forbidden` when the token may not. */
  sign(client: Client, message: string): Promise<string>;
  /** What a token must allow so that the node signs, in the kind's own words. */
  readonly toSign: string;
  /** Makes calls that show, by the client's events, whether the node serves. */
  probe(
    client: Client,
    options: { readonly hasToken: boolean; readonly timeoutMs: number },
  ): Promise<void>;
}

/** What configured credentials need of their kind. `Token` is what can be read of a token. */
export interface RemoteProtocol<Client, Token> extends PlaceProtocol<Client> {
  /** Reads a token; null when it is not one of the kind. */
  readToken(text: string): Token | null;
  grantOf(token: Token): TokenGrant;
}
