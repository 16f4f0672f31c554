import { expect, test } from 'bun:test';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';

test('every POST below /v2/node/ takes an Idempotency-Key, and no other route does (docs/decisions.md 49)', () => {
  for (const { method, path, takesKey = false } of [...ROUTES, ...SANDBOX_ROUTES]) {
    const isNodePost = method === 'post' && path.startsWith('/v2/node/');
    expect(`${path} takes a key: ${takesKey}`).toBe(`${path} takes a key: ${isNodePost}`);
  }
});
