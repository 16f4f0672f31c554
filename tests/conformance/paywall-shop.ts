import { createHash } from 'node:crypto';
import { challengeIn, proofOf } from '../../src/net/paid/index.ts';
import type { Body } from '../support/requests.ts';
import type { DialectName } from './paid-services.ts';
import type { ConformanceWorld } from './world.ts';

type ShopWorld = Pick<ConformanceWorld, 'post' | 'bob'>;

/** A web service that sells each of its paths by create_paywall and verify_paywall of the wallet `bob`. */
export interface Shop {
  readonly url: string;
  /** The paywalls that were sent. */
  readonly paywalls: Body[];
  /** The answers of verify_paywall. */
  readonly verified: Body[];
  stop(): void;
}

/** Opens a shop that asks for 25 sats in these ways. */
export function openShop(world: ShopWorld, dialects: readonly DialectName[]): Shop {
  const paywalls: Body[] = [];
  const verified: Body[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, url, headers } = request;
      const body_hash = createHash('sha256')
        .update(new Uint8Array(await request.arrayBuffer()))
        .digest('hex');
      const sold = { method, url, body_hash };
      if (headers.has('authorization') || headers.has('payment-signature')) {
        const given = { headers: Object.fromEntries(headers), request: sold };
        const proof = await world.post('/v2/node/verify_paywall', given, world.bob);
        verified.push(proof);
        if (proof.valid) {
          const { pathname } = new URL(url);
          return new Response(`the resource ${pathname}`, { headers: headersOf(proof.receipt) });
        }
      }
      const paywall = await world.post(
        '/v2/node/create_paywall',
        { amount: '25', description: 'Report für dich', request: sold },
        world.bob,
      );
      paywalls.push(paywall);
      const lines = dialects.flatMap((dialect) => paywall.challenges[dialect]);
      return new Response('payment required', { status: 402, headers: headersOf(lines) });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    paywalls,
    verified,
    stop: () => void server.stop(true),
  };
}

/** Reads header lines as a server writes them. */
export function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const at = line.indexOf(': ');
    headers.append(line.slice(0, at), line.slice(at + 2));
  }
  return headers;
}

/** Returns the header by which the owner of a preimage proves that it has paid a paywall for a GET without a body. */
export function proofFor(
  { challenges }: Body,
  { dialect, url, preimage }: { dialect: DialectName; url: string; preimage: string },
): Record<string, string> {
  const request = { method: 'GET', url, headers: {}, body: new Uint8Array() };
  const reading = { request, network: 'regtest', nowMs: Date.now() } as const;
  const challenge = challengeIn(headersOf(challenges[dialect]), reading);
  return Object.fromEntries([proofOf(challenge, preimage)]);
}
