import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { type CliWorld, openCliWorld } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
beforeAll(async () => {
  world = await openCliWorld();
});
afterAll(() => world.close());

/** Makes an invoice for a payment hash. Resolves to its index. */
async function invoiceOf(hash: string): Promise<string> {
  return (await world.json('invoice', '5', '--payment-hash', hash)).index;
}

const FIRST = `abcd1${'3'.repeat(54)}beef9`;
const SECOND = `abcd2${'3'.repeat(54)}beef8`;

describe('a payment (docs/decisions.md 102)', () => {
  test('is named by what the table shows, the ends of its id, its whole id, its index, or last', async () => {
    const first = await invoiceOf(FIRST);
    const second = await invoiceOf(SECOND);
    const { stdout } = await world.run('payments', '--limit', '2');
    const rows = stdout.split('\n').slice(1);
    const ids = rows.map((row) => /(\S+) {2}\S+$/.exec(row)?.[1]);
    expect(ids).toEqual([SECOND.slice(0, 10), FIRST.slice(0, 10)]);
    const names = [FIRST.slice(0, 10), 'ABCD1333', FIRST.slice(-8), FIRST, first];
    for (const name of names) expect((await world.json('show', name)).index).toBe(first);
    for (const name of ['last', 'LAST']) {
      expect((await world.json('show', name)).index).toBe(second);
    }
  });

  test('is found though the cache does not have it yet, and not taken for the only one that fits', async () => {
    await world.json('sync');
    const third = `dddddddd1${'4'.repeat(55)}`;
    const index = await invoiceOf(third);
    expect((await world.json('show', 'dddddddd')).index).toBe(index);
    await invoiceOf(`dddddddd2${'4'.repeat(55)}`);
    expect((await world.run('show', 'dddddddd')).exitCode).toBe(1);
  });

  test('that an outside node holds is decided by the same names', async () => {
    const outside = ['sandbox', 'invoice', '5', '--behavior', 'hold'] as const;
    const { invoice, payment_hash } = await world.json(...outside);
    const paying = world.json('pay', invoice, '--yes');
    await until(
      async () => (await world.run('show', payment_hash)).exitCode === 0,
      'the payment to be held',
    );
    expect((await world.run('sandbox', 'hold', payment_hash.slice(0, 10), 'settle')).stdout).toBe(
      'Settled.',
    );
    expect(await paying).toMatchObject({ status: 'completed', hash: payment_hash });
  });

  test('that could be several is none of them: all are shown, and nothing is done', async () => {
    const ran = await world.run('cancel', 'abcd');
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
    for (const hash of [FIRST, SECOND]) expect(ran.stderr).toContain(`-ln_${hash}`);
    expect(ran.stderr).toEndWith('"abcd" fits several: name one of the above by more of it.');
    for (const hash of [FIRST, SECOND]) {
      expect((await world.json('show', hash)).status).toBe('pending');
    }
  });

  test('that is not there is told with what was typed; what names none is wrong usage', async () => {
    expect(await world.run('show', 'ffff0000')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'No payment has an id that begins or ends with "ffff0000": "wallet-sidecar payments" shows them.',
    });
    for (const name of ['abc', 'lastly', 'x'.repeat(64), `${FIRST}0`]) {
      const ran = await world.run('show', name);
      expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"last"') });
    }
  });

  test('that a list continues after is named so too', async () => {
    const { payments } = await world.json('payments', '--order', 'asc');
    const [first, ...later] = payments.map(({ index }: { index: string }) => index);
    for (const name of [first, first.slice(-64), first.slice(-8), first.slice(-64, -54)]) {
      const after = ['payments', '--order', 'asc', '--no-sync', '--after', name] as const;
      const listed = (await world.json(...after)).payments;
      expect(listed.map(({ index }: { index: string }) => index)).toEqual(later);
    }
    const { payments: earlier } = await world.json('payments', '--after', 'last');
    expect(earlier.map(({ index }: { index: string }) => index)).toEqual(
      [first, ...later].reverse().slice(1),
    );
    expect((await world.run('payments', '--after', 'ffff0000')).stderr).toContain('"ffff0000"');
  });

  test('is named so wherever a command takes one', async () => {
    const { index } = await world.json('invoice', '7');
    expect((await world.run('note', 'last', 'mine')).stdout).toBe('Noted.');
    expect((await world.json('show', index)).personal_note).toBe('mine');
    expect((await world.run('wait', 'last', '--timeout', '1s')).exitCode).toBe(1);
    expect((await world.run('cancel', index.slice(-6))).exitCode).toBe(0);
    expect((await world.run('wait', 'last')).stderr).toEndWith('The payment failed: canceled.');
    // Each reaches its own endpoint, which refuses this payment.
    for (const words of [
      ['proof', 'create', 'last'],
      ['bump', 'last'],
      ['settle', 'last', FIRST],
    ]) {
      const ran = await world.run(...words);
      expect(ran.stderr).toMatch(/\(error (7|10\d)\)\.$/);
    }
  });
});

describe('a client', () => {
  test('is named by its label, or the ends of its key', async () => {
    const { client_pk: pk } = await world.json(
      ...['clients', 'create', '--label', 'till', '--scope', 'read_info'],
    );
    for (const name of ['till', pk.slice(0, 8), pk.slice(-8), pk.toUpperCase()]) {
      expect((await world.json('clients', 'show', name)).client_pk).toBe(pk);
    }
    expect((await world.run('clients', 'update', 'till', '--label', 'desk')).exitCode).toBe(0);
    expect(await world.run('clients', 'revoke', 'till')).toMatchObject({
      exitCode: 1,
      stderr: 'No active client has the label or key "till": "clients list" shows them.',
    });
    expect((await world.run('clients', 'revoke', 'desk')).exitCode).toBe(0);
    const { clients } = await world.json('clients', 'list');
    expect(clients[pk]).toBeUndefined();
  });

  test('whose label two have is not revoked', async () => {
    const keys = await Promise.all(
      [1, 2].map(async () => {
        const made = await world.json(
          ...['clients', 'create', '--label', 'twin', '--scope', 'read_info'],
        );
        return made.client_pk;
      }),
    );
    const ran = await world.run('clients', 'revoke', 'twin');
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
    for (const key of keys) expect(ran.stderr).toContain(key);
    const { clients } = await world.json('clients', 'list');
    for (const key of keys) expect(clients[key]).toBeDefined();
  });
});

test('with --json a name that fits nothing leaves stdout empty, and an error of the API is printed', async () => {
  const none = await world.run('show', 'ffffeeee', '--json');
  expect(none).toMatchObject({ exitCode: 1, stdout: '' });
  expect(none.stderr).toContain('No payment has an id');
  const port = '127.0.0.1:1';
  const away = await world.run('info', '--json', '--url', `http://${port}`);
  expect(away).toMatchObject({ exitCode: 1, stdout: '' });
  expect(away.stderr).toContain(`No sidecar answers at http://${port}`);
  const index = `0000001764000000000-ln_${'ab'.repeat(32)}`;
  const refused = await world.run('show', index, '--json');
  expect(refused.exitCode).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({ code: 107 });
});

describe('a channel', () => {
  const OWN = 'cafe'.repeat(8);
  const names: Readonly<Record<string, (channel: Channel) => string>> = {
    'first characters of its id': ({ channel_id }) => channel_id.slice(0, 8),
    'last characters of its id': ({ channel_id }) => channel_id.slice(-8),
    'characters of its --id': () => OWN.slice(0, 6),
    'funding transaction': ({ funding_txo }) => funding_txo.slice(0, 12),
  };
  for (const [what, nameOf] of Object.entries(names)) {
    test(`is named by the ${what}`, async () => {
      const own = what.includes('--id') ? ['--id', OWN] : [];
      const { channel_id } = await world.json('channels', 'open', '100000', ...own);
      await world.json('sandbox', 'block', '6');
      const list = async () => (await world.json('channels', 'list')).channels as Channel[];
      const [channel] = (await list()).filter((one) => one.channel_id === channel_id);
      if (channel === undefined) throw new Error('The channel is not listed.');
      const closed = await world.run('channels', 'close', nameOf(channel));
      expect(closed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Closing/) });
      expect((await list()).some((one) => one.channel_id === channel_id && one.is_usable)).toBe(
        false,
      );
    });
  }

  test('that is not there is told with what was typed', async () => {
    expect(await world.run('channels', 'close', 'ffffeeee')).toMatchObject({
      exitCode: 1,
      stderr: 'No channel has the id "ffffeeee": "wallet-sidecar channels list" shows them.',
    });
  });
});

interface Channel {
  readonly channel_id: string;
  readonly funding_txo: string;
  readonly is_usable: boolean;
}
