import { expect, test } from 'bun:test';
import { WalletSidecar } from '../../../src/client/index.ts';
import { allAttempts } from '../../../src/console/api/attempts.ts';

/** A sidecar with that many attempts, which tells them as the API does: oldest first, by page. */
function sidecarWith(count: number): WalletSidecar {
  return new WalletSidecar({
    url: 'http://127.0.0.1',
    async fetch(url) {
      const asked = new URL(url).searchParams;
      const [after, limit] = [Number(asked.get('after') ?? 0), Number(asked.get('limit'))];
      const all = Array.from({ length: count }, (_, at) => ({ number: at + 1 }));
      return Response.json({ attempts: all.slice(after, after + limit) });
    },
  });
}

test('every attempt of a delivery is read, however many endpoints it went to', async () => {
  for (const count of [0, 3, 100, 240]) {
    const found = await allAttempts(sidecarWith(count), 'msg', new AbortController().signal);
    expect(found.map(({ number }) => number)).toEqual(
      Array.from({ length: count }, (_, at) => at + 1),
    );
  }
});
