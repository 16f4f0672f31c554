import { base64urlnopad } from '@scure/base';
import { z } from 'zod';
import { NETWORKS, type Network } from '../codecs/network.ts';
import { REMOTE_KINDS, type RemoteKind } from './node-kind.ts';

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);
const token = z.string().regex(/^(?:[0-9a-f]{2}){1,4096}$/);
/** Base URL of the node's interface. */
const nodeUrl = z.url({ protocol: /^https$/ });
/** The node's self-signed certificate (PEM), then the only one accepted; null trusts the system's authorities. */
const certificate = z.string().nullable();

const clientShape = z.object({ v: z.literal(2), client: hex32, secret: hex32 });

const nodeShape = z.object({
  v: z.literal(2),
  node: z.object({
    kind: z.enum(REMOTE_KINDS),
    url: nodeUrl,
    cert: certificate,
    /** Hex node key: the wallet that this location speaks for. */
    pk: z.string().regex(/^0[23][0-9a-f]{64}$/),
    network: z.enum(Object.keys(NETWORKS) as [Network, ...Network[]]),
  }),
  token,
});

/** What the first version wrote, for clients and configuration alike: the secret of an LND was its macaroon. */
const firstShape = z.object({
  v: z.literal(1),
  node: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('sandbox') }),
    z.object({ kind: z.literal('lnd'), url: nodeUrl, cert: certificate }),
  ]),
  client: hex32,
  secret: token,
});

/** What an application holds: which client it is and what proves it. It says nothing of where a node is. */
export interface ClientCredentials {
  /** Hex ed25519 public key. */
  readonly client: string;
  /** Hex; 32 random bytes, or for credentials of the first version on LND a macaroon. */
  readonly secret: string;
}

/** What `connect` writes and configuration alone may name: where a node is and the node's own token. */
export interface NodeCredentials {
  readonly kind: RemoteKind;
  readonly url: string;
  readonly cert: string | null;
  /** Hex node key; null in files of the first version, which did not hold it. */
  readonly nodePk: string | null;
  readonly network: Network | null;
  /** Hex, such as LND's macaroon. */
  readonly token: string;
}

/** A credentials string taken apart. One of the first version for an LND may have been meant as either. */
export interface Credentials {
  readonly client: ClientCredentials | null;
  readonly node: NodeCredentials | null;
}

/** Writes client credentials as the opaque string that callers send (decisions section 7). */
export function encodeClientCredentials({ client, secret }: ClientCredentials): string {
  return encode({ v: 2, client, secret });
}

/** Writes what `connect` found as the string that configuration takes. */
export function encodeNodeCredentials(
  credentials: NodeCredentials & { readonly nodePk: string; readonly network: Network },
): string {
  const { kind, url, cert, nodePk: pk, network, token } = credentials;
  return encode({ v: 2, node: { kind, url, cert, pk, network }, token });
}

/** Reads a credentials string, with or without padding; null when it is none. Never says which part is wrong. */
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

/** A credential has one spelling, the one that was given out: `text` must be it. */
function read(json: unknown, text: string): Credentials | null {
  const client = clientShape.safeParse(json);
  if (client.success) {
    return isSpelt(client.data, text) ? { client: clientOf(client.data), node: null } : null;
  }
  const configured = nodeShape.safeParse(json);
  if (configured.success) {
    const { node, token } = configured.data;
    const { kind, url, cert, pk, network } = node;
    return { client: null, node: { kind, url, cert, nodePk: pk, network, token } };
  }
  const parsed = firstShape.parse(json);
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
