import { base64urlnopad } from '@scure/base';
import { z } from 'zod';
import { NETWORKS, type Network } from '../codecs/network.ts';
import { once } from '../lib/once.ts';
import { REMOTE_KINDS, type RemoteKind } from './node-kind.ts';

const shapes = once(() => {
  const hex32 = z.string().regex(/^[0-9a-f]{64}$/);
  /** A token of a client of version 0.1: hex. */
  const hexToken = z.string().regex(/^(?:[0-9a-f]{2}){1,4096}$/);
  /** A node's own token, in the text form of its kind. */
  const token = z.string().regex(/^[!-~]{1,8192}$/);
  /** Base URL of the node's interface. */
  const nodeUrl = z.url({ protocol: /^https$/ });
  /** The node's self-signed certificate (PEM). If set, only this one is accepted; null: the system's authorities. */
  const certificate = z.string().nullable();

  const client = z.object({ v: z.literal(2), client: hex32, secret: hex32 });

  const node = z.object({
    v: z.literal(2),
    node: z.object({
      kind: z.enum(REMOTE_KINDS),
      url: nodeUrl,
      cert: certificate,
      /** Hex node key, which identifies the wallet at this location. */
      pk: z.string().regex(/^0[23][0-9a-f]{64}$/),
      network: z.enum(Object.keys(NETWORKS) as [Network, ...Network[]]),
    }),
    token,
  });

  /** The form of version 0.1, for clients and configuration alike; of an LND the secret was its macaroon. */
  const first = z.object({
    v: z.literal(1),
    node: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('sandbox') }),
      z.object({ kind: z.literal('lnd'), url: nodeUrl, cert: certificate }),
    ]),
    client: hex32,
    secret: hexToken,
  });
  return { client, node, first };
});

/** Credentials of an application: a client and its secret, and no location of a node (docs/decisions.md 55). */
interface ClientCredentials {
  /** Hex ed25519 public key. */
  readonly client: string;
  /** Hex of 32 random bytes. In credentials of version 0.1 for an LND it is the hex of a macaroon. */
  readonly secret: string;
}

/** The location of a node and its token, as `connect` writes them for the configuration (docs/decisions.md 56). */
export interface NodeCredentials {
  readonly kind: RemoteKind;
  readonly url: string;
  readonly cert: string | null;
  /** Hex node key; null in files of version 0.1, which did not hold it. */
  readonly nodePk: string | null;
  readonly network: Network | null;
  /** The node's own token as its kind writes it, such as LND's macaroon in hex or a rune of Core Lightning. */
  readonly token: string;
}

/** The parts of a credentials string. A string of version 0.1 for an LND may have both parts; others have one. */
export interface Credentials {
  readonly client: ClientCredentials | null;
  readonly node: NodeCredentials | null;
}

/** Writes client credentials as the opaque string that callers send (docs/decisions.md 55). */
export function encodeClientCredentials({ client, secret }: ClientCredentials): string {
  return encode({ v: 2, client, secret });
}

/** Writes node credentials as the string that configuration accepts. */
export function encodeNodeCredentials(
  credentials: NodeCredentials & { readonly nodePk: string; readonly network: Network },
): string {
  const { kind, url, cert, nodePk: pk, network, token } = credentials;
  return encode({ v: 2, node: { kind, url, cert, pk, network }, token });
}

/** Reads a credentials string; null for any other text, without saying what is wrong with it. */
export function decodeCredentials(text: string): Credentials | null {
  try {
    const bare = text.replace(/={1,2}$/, '');
    const json: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(base64urlnopad.decode(bare)),
    );
    return read(json, bare);
  } catch {
    return null;
  }
}

/** Client credentials are accepted only in the one spelling that was issued; `text` is compared with it. */
function read(json: unknown, text: string): Credentials | null {
  const client = shapes().client.safeParse(json);
  if (client.success) {
    return isSpelt(client.data, text) ? { client: clientOf(client.data), node: null } : null;
  }
  const configured = shapes().node.safeParse(json);
  if (configured.success) {
    const { node, token } = configured.data;
    const { kind, url, cert, pk, network } = node;
    return { client: null, node: { kind, url, cert, nodePk: pk, network, token } };
  }
  const parsed = shapes().first.parse(json);
  const { node, ...first } = parsed;
  return {
    client: isSpelt(parsed, text) ? clientOf(first) : null,
    node:
      node.kind === 'sandbox'
        ? null
        : { ...node, nodePk: null, network: null, token: first.secret },
  };
}

function clientOf({ client, secret }: ClientCredentials): ClientCredentials {
  return { client, secret };
}

function isSpelt(read: unknown, text: string): boolean {
  return encode(read) === text;
}

function encode(json: unknown): string {
  return base64urlnopad.encode(new TextEncoder().encode(JSON.stringify(json)));
}
