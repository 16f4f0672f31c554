import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { networkId, requestHash } from '../../src/net/paid/x402.ts';
import type { ConformanceWorld } from './world.ts';

/** The part of a world in which the service's wallet is. */
type ServiceWorld = Pick<ConformanceWorld, 'post' | 'get' | 'bob'>;

/** The ways in which {@link openPaidService} asks for payment. */
export const DIALECTS = ['l402', 'payment', 'x402'] as const;
export type DialectName = (typeof DIALECTS)[number];

/** What a service does with a request, for tests of wrong services. */
export interface Behaviour {
  /** Changes the challenge before it is sent, by the names of its parts. */
  readonly challenge?: Readonly<Record<string, unknown>>;
  /** Resolves when the service begins with its answer. */
  readonly before?: () => Promise<void>;
  /** What is answered to a request with the right proof; the resource by default. */
  readonly paid?: () => Response | Promise<Response>;
}

/** A web service that gives its resources for payment. The wallet `bob` of the world is paid. */
export interface PaidService {
  readonly url: string;
  behaviour: Behaviour;
  /** Every request as it came, without its body. */
  readonly requests: { readonly path: string; readonly proof: string | null }[];
  /** The invoices that were asked for. */
  readonly invoices: string[];
  /** Resolves when the next challenge is about to be sent. */
  challenged(): Promise<void>;
  stop(): void;
}

const PRICE_SATS = 25;
const EXPIRY_SECS = 300;

/** Opens a service that sells each of its paths for 25 sats. */
export function openPaidService(world: ServiceWorld, dialect: DialectName): PaidService {
  const service: PaidService = {
    url: '',
    behaviour: {},
    requests: [],
    invoices: [],
    challenged: () => next.promise,
    stop: () => server.stop(true),
  };
  let next = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const proof =
        request.headers.get('authorization') ?? request.headers.get('payment-signature');
      service.requests.push({ path: pathname, proof });
      await service.behaviour.before?.();
      if (proof !== null && isPaid(proof)) {
        return service.behaviour.paid?.() ?? new Response(`the resource ${pathname}`);
      }
      const body = new Uint8Array(await request.arrayBuffer());
      const hash = requestHash({ method: request.method, url: request.url, headers: {}, body }, []);
      const descriptionHash = dialect === 'x402' ? { description_hash: hash } : {};
      const made = await world.post(
        '/v2/node/create_invoice',
        { amount: String(PRICE_SATS), expiration_secs: EXPIRY_SECS, ...descriptionHash },
        world.bob,
      );
      service.invoices.push(made.invoice);
      const { node_pk: payTo } = await world.get('/v2/node/node_info', {}, world.bob);
      const parts = { ...made, hash, payTo, url: request.url, ...service.behaviour.challenge };
      next.resolve();
      next = Promise.withResolvers();
      return new Response('payment required', { status: 402, headers: HEADERS[dialect](parts) });
    },
  });
  return Object.assign(service, { url: `http://127.0.0.1:${server.port}` });
}

type Parts = ReturnType<JSON['parse']>;

const base64 = (value: unknown, form: 'base64' | 'base64url' = 'base64') =>
  Buffer.from(JSON.stringify(value)).toString(form);

const HEADERS: Readonly<Record<DialectName, (parts: Parts) => Record<string, string>>> = {
  l402: ({ invoice, payment_hash, tokenHash = payment_hash }) => ({
    'www-authenticate': `L402 version="0", token="${macaroon(tokenHash)}", invoice="${invoice}"`,
  }),
  payment: ({
    invoice,
    payment_hash,
    sats = String(PRICE_SATS),
    network = 'regtest',
    hashSaid,
  }) => ({
    'www-authenticate': `Payment id="abc", realm="shop", method="lightning", intent="charge", request="${base64(
      {
        amount: sats,
        currency: 'sat',
        methodDetails: { invoice, network, paymentHash: hashSaid ?? payment_hash },
      },
      'base64url',
    )}"`,
  }),
  x402: ({ invoice, hash, payTo, url, msat = String(PRICE_SATS * 1000), network }) => ({
    'payment-required': base64({
      x402Version: 2,
      resource: { url },
      accepts: [
        {
          scheme: 'exact',
          network: network ?? networkId('regtest'),
          amount: msat,
          asset: 'BTC',
          payTo,
          maxTimeoutSeconds: EXPIRY_SECS,
          extra: {
            paymentFlow: 'upfront',
            invoice,
            requestHash: hash,
            requestBindingProfile: 'http:1',
            requestBindingParams: { headers: [] },
          },
        },
      ],
    }),
  }),
};

/** A macaroon as far as its payer reads it: version 2, and the payment hash in its identifier. */
function macaroon(paymentHash: string): string {
  const hash = Buffer.from(paymentHash, 'hex');
  return Buffer.concat([Buffer.from([2, 2, 66, 0, 0]), hash, Buffer.alloc(32)]).toString('base64');
}

/** Whether a proof holds a preimage whose hash the proof's own challenge names. */
function isPaid(proof: string): boolean {
  const { preimage, said } = proofParts(proof);
  const hash = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest();
  return said.includes(hash.toString('hex'));
}

function proofParts(proof: string): { preimage: string; said: string } {
  if (proof.startsWith('L402 ')) {
    const [token = '', preimage = ''] = proof.slice(5).split(':');
    return { preimage, said: Buffer.from(token, 'base64').toString('hex') };
  }
  const text = Buffer.from(proof.replace(/^Payment /, ''), 'base64').toString();
  const { challenge, accepted, payload } = JSON.parse(text);
  const details = challenge
    ? JSON.parse(Buffer.from(challenge.request, 'base64url').toString()).methodDetails.paymentHash
    : hashOf(accepted.extra.invoice);
  return { preimage: payload.preimage, said: details };
}

function hashOf(invoice: string): string {
  return decodeBolt11(invoice).paymentHash;
}
