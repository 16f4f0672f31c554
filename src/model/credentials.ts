import { base64urlnopad } from '@scure/base';
import { z } from 'zod';

const nodeReference = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sandbox') }),
  z.object({
    kind: z.literal('lnd'),
    /** Base URL of LND's REST interface. */
    url: z.url({ protocol: /^https$/ }),
    /** The node's self-signed certificate (PEM), which becomes the only trusted root. */
    cert: z.string().nullable(),
  }),
]);

const credentialsShape = z.object({
  v: z.literal(1),
  node: nodeReference,
  /** Hex ed25519 public key of the client. */
  client: z.string().regex(/^[0-9a-f]{64}$/),
  /** What proves the client to the node: sandbox 64 hex characters, LND a macaroon in hex. */
  secret: z.string().regex(/^[0-9a-f]{2,8192}$/),
});

/** What a credentials string holds: which node, which client, its secret (decisions section 7). */
export type Credentials = z.infer<typeof credentialsShape>;
/** The part of the credentials that names the node. */
export type NodeReference = z.infer<typeof nodeReference>;

/** Writes credentials as the opaque string that callers send: base64url of a small versioned JSON. */
export function encodeCredentials(credentials: Credentials): string {
  return base64urlnopad.encode(new TextEncoder().encode(JSON.stringify(credentials)));
}

/** Reads a credentials string; null when it is none. Never says which part is wrong. */
export function decodeCredentials(text: string): Credentials | null {
  try {
    const bytes = base64urlnopad.decode(text);
    return credentialsShape.parse(
      JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)),
    );
  } catch {
    return null;
  }
}
