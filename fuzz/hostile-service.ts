import { encodeLnurl } from '../src/codecs/lnurl.ts';
import { diceOf } from './dice.ts';
import { nastyText } from './text.ts';
import { VECTORS } from './vectors.ts';

/** A hostile LNURL service on loopback, for payment strings to name. */
export interface HostileService {
  /** Payment strings that lead to it. */
  readonly lnurls: readonly string[];
  close(): Promise<void>;
}

/** The number of ways in which the service misbehaves; the path says which one. */
const WAYS = 64;

/** Opens the service on a free port. Its answers depend on the path alone. */
export function openHostileService(): HostileService {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => answer(new URL(request.url)),
  });
  const base = `127.0.0.1:${server.port}`;
  const ways = Array.from({ length: WAYS }, (_, way) => way);
  return {
    lnurls: ways.flatMap((way) => [
      `lnurlp://${base}/${way}`,
      encodeLnurl(`http://${base}/${way}`),
      `a${way}@${base}`,
    ]),
    close: () => server.stop(true),
  };
}

function answer(url: URL): Response {
  const way = Number(/\d+$/.exec(url.pathname)?.[0] ?? 0);
  const dice = diceOf(way, url.pathname.length);
  const callback = dice.pick([
    `${url.origin}/callback/${way}`,
    `${url.origin}/callback/${way}`,
    'http://10.0.0.1/',
    'file:///etc/passwd',
    nastyText(dice),
  ]);
  if (url.pathname.startsWith('/callback/')) return callbackAnswer(way, nastyText(dice));
  const metadata = dice.pick([
    '[["text/plain","x"]]',
    '[]',
    '[[]]',
    'null',
    '{',
    '[["text/plain",1]]',
    nastyText(dice),
    `${'['.repeat(5000)}`,
  ]);
  const number = () =>
    dice.pick([
      1000,
      1,
      0,
      -1,
      1.5,
      1e308,
      9007199254740992,
      '1000',
      null,
      2_100_000_000_000_000_000,
    ]);
  const pay = {
    tag: 'payRequest',
    callback,
    minSendable: 1000,
    maxSendable: 1e11,
    metadata: '[["text/plain","x"]]',
    commentAllowed: number(),
  };
  switch (way % 12) {
    case 0:
    case 1:
    case 2:
      return Response.json(pay);
    case 3:
      return Response.json({ ...pay, minSendable: number(), maxSendable: number() });
    case 4:
      return Response.json({ ...pay, metadata });
    case 5:
      return Response.json({
        tag: 'withdrawRequest',
        callback: `${url.origin}/callback/3`,
        k1: nastyText(dice),
        defaultDescription: nastyText(dice),
        minWithdrawable: 1000,
        maxWithdrawable: 1e7,
      });
    case 6:
      return Response.json({
        status: 'ERROR',
        reason: dice.pick([nastyText(dice), 'x'.repeat(100_000), { a: 1 }, null]),
      });
    case 7:
      return new Response(null, {
        status: 302,
        headers: {
          location: dice.pick([
            url.pathname,
            'http://10.0.0.1/',
            'file:///etc/passwd',
            'http://[',
            '//',
          ]),
        },
      });
    case 8:
      return new Response('x'.repeat(300_000), { headers: { 'content-type': 'application/json' } });
    case 9:
      return new Response(`${'['.repeat(60_000)}${']'.repeat(60_000)}`);
    case 10:
      return Response.json(
        dice.pick([null, [], 'x', { tag: nastyText(dice) }, { tag: ['payRequest'] }]),
      );
    default:
      return new Response(dice.bytes(50).slice(), { status: dice.pick([200, 500, 404]) });
  }
}

/** Never returns an invoice that could be paid or a promise to pay one: the wallet would wait for that without end. */
function callbackAnswer(way: number, nasty: string): Response {
  const dice = diceOf(way, 1);
  const pr = dice.pick([...VECTORS.bolt11, ...VECTORS.offer, nasty]);
  const successAction = dice.pick([
    undefined,
    null,
    { tag: nasty },
    { tag: 'message', message: 'x'.repeat(200) },
  ]);
  if (way === 3) return Response.json({ status: 'ERROR', reason: nasty });
  return Response.json(dice.pick([{ pr, routes: [], successAction }, { pr: 1 }, {}, [], null]));
}
