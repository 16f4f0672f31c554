import { expect, test } from 'bun:test';
import * as nip44 from 'nostr-tools/nip44';
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure';
import { KIND, openRequests } from '../../src/nwc/requests.ts';
import { asking } from '../../src/phoenixd/caller.ts';
import { until } from '../support/until.ts';

const STARTED_SECS = 1_800_000_000;
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** A process that began at {@link STARTED_SECS}, and one application whose client has ended. */
function world() {
  const [app, service] = [generateSecretKey(), generateSecretKey()];
  const sealKey = nip44.getConversationKey(service, getPublicKey(app));
  const answers: object[] = [];
  const asked: string[] = [];
  const time = { secs: STARTED_SECS };
  const live = {
    ...{ clientPk: 'client', app: getPublicKey(app), service: getPublicKey(service), sealKey },
    caller: asking('client', {}, async (path) => {
      asked.push(path);
      return Response.json({ code: 104, msg: 'ended', data: { sent: 'no' } }, { status: 401 });
    }),
    ...{ isOver: true, inProgress: 0, waiting: [] },
  };
  const requests = openRequests<typeof live>({
    pairings: { refuse: async () => undefined },
    respond: (_, message) => answers.push(message),
    clock: { now: () => time.secs * 1000 },
    log,
    ended: new AbortController().signal,
  });
  const arrive = (method: string, createdAt: number) => {
    const params = { invoice: INVOICE };
    const content = nip44.encrypt(JSON.stringify({ method, params }), sealKey);
    const tags = [
      ['p', live.service],
      ['encryption', 'nip44_v2'],
    ];
    const event = { kind: KIND.request, created_at: createdAt, content, tags };
    requests.arrived(new Map([[live.service, live]]), finalizeEvent(event, app));
  };
  return { time, arrive, answers, asked };
}

/** A payment of 2,500 µBTC, of the examples of BOLT 11. */
const INVOICE =
  'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh';

test('a payment of a client that had ended is answered where no earlier process can have begun it', async () => {
  const { time, arrive, answers, asked } = world();
  time.secs = STARTED_SECS + 70;
  // Written by a clock that may be a minute ahead, so perhaps before this process began.
  arrive('pay_invoice', STARTED_SECS + 59);
  await until(() => asked.length > 0);
  await Bun.sleep(0);
  expect(answers).toEqual([]);
  arrive('pay_invoice', STARTED_SECS + 60);
  await until(() => answers.length > 0);
  expect(answers).toMatchObject([{ error: { code: 'UNAUTHORIZED' }, result: null }]);
  expect(asked).toHaveLength(1);
});
