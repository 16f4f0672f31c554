import { describe, expect, test } from 'bun:test';
import { Hono } from 'hono';
import type { AppEnv } from '../../src/http/env.ts';
import { errorResponse } from '../../src/http/middleware/errors.ts';
import { openLog } from '../../src/lib/log.ts';
import { internalUnlessApi } from '../../src/model/errors.ts';

/** Answers a request whose client goes away while the handler fails; `errorOf` makes the error of the abort's reason. */
async function answerTo(errorOf: (reason: unknown) => unknown) {
  const lines: string[] = [];
  const log = openLog({ level: 'info', format: 'json', write: (line) => void lines.push(line) });
  const gone = new AbortController();
  const app = new Hono<AppEnv>();
  app.onError(errorResponse(log, 'start'));
  app.post('/pay', () => {
    gone.abort();
    throw errorOf(gone.signal.reason);
  });
  const request = new Request('http://127.0.0.1/pay', { method: 'POST', signal: gone.signal });
  const { status } = await app.request(request);
  return { status, lines };
}

describe('a request whose client went away', () => {
  test('is counted as that, and is no internal error', async () => {
    expect(await answerTo((reason) => reason)).toEqual({ status: 499, lines: [] });
  });

  test('also where the error says what may have been sent', async () => {
    const errorOf = (reason: unknown) => internalUnlessApi(reason).with({ sent: 'unknown' });
    expect(await answerTo(errorOf)).toEqual({ status: 499, lines: [] });
  });

  test('does not hide an internal error of a payment from the log', async () => {
    const broken = new TypeError('on purpose');
    const { status, lines } = await answerTo(() =>
      internalUnlessApi(broken).with({ sent: 'unknown' }),
    );
    expect(status).toBe(500);
    expect(lines.join('')).toContain('Internal error.');
  });
});
