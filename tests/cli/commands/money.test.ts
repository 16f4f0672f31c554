import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { BARE_ENV, startBinary, startOnTerminal } from '../../support/binary.ts';
import { freePort } from '../../support/ports.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { type CliWorld, openCliWorld, runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
beforeAll(async () => {
  world = await openCliWorld();
});
afterAll(() => world.close());

const env = () => ({ SERVICE_DATA_DIR: world.dataDir });

describe('receiving', () => {
  test('cancel makes an invoice unpayable', async () => {
    const { index } = await world.json('invoice', '5');
    expect(await world.run('cancel', index)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await world.json('show', index)).toMatchObject({ status_msg: 'canceled' });
    const again = 'Canceled: the invoice can no longer be paid.';
    expect((await world.run('cancel', index)).stdout).toBe(again);
  });

  test('cancel of a payment that had failed before says that nothing was canceled', async () => {
    const { invoice } = await world.json('sandbox', 'invoice', '5', '--behavior', 'fail');
    expect((await world.run('pay', invoice, '--yes')).exitCode).toBe(1);
    expect(await world.run('cancel', 'last')).toEqual({
      exitCode: 0,
      stdout: 'Nothing was canceled: the payment had failed before (rejected by the receiver).',
      stderr: '',
    });
    expect(await world.json('cancel', 'last')).toEqual({});
  });

  test('cancel works for a client that may not read payments', async () => {
    const receives = ['--scope', 'receive', '--json'] as const;
    const { client_credentials } = await world.json('clients', 'create', ...receives);
    const { index } = await world.json('invoice', '5');
    const ran = await world.run('cancel', index, '--client-credentials', client_credentials);
    expect(ran).toEqual({
      exitCode: 0,
      stdout: 'Canceled, or failed before: nothing will come of this payment.',
      stderr: '',
    });
  });

  test('settle takes the money of a held invoice', async () => {
    const preimage = '5a'.repeat(32);
    const hash = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
    const { index, invoice } = await world.json('invoice', '500', '--payment-hash', hash);
    await world.json('sandbox', 'pay', invoice);
    await until(
      async () => (await world.json('show', index)).status_msg === 'held',
      'the payment was held',
    );
    expect((await world.run('settle', index, preimage)).exitCode).toBe(0);
    expect(await world.json('wait', index)).toMatchObject({ status: 'completed', amount: '500' });
  });

  test('withdraw brings the money of a service, the amount after the LNURL', async () => {
    const { lnurl } = await world.json('sandbox', 'lnurl', 'withdraw', '1', '5000');
    const { exitCode, stdout, stderr } = await world.run('withdraw', lnurl, '300', '--note', 'v');
    expect(stderr).toMatch(/^Idempotency-Key: \S+$/);
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Status +completed\nDirection +inbound\nAmount +300 sats$/m),
    });
  });

  test('buy prints the link, whose invoice the payment app pays', async () => {
    const { redirect_url, index } = await world.json('buy', '7000');
    await world.json('sandbox', 'pay', redirect_url);
    expect(await world.json('wait', index)).toMatchObject({ amount: '7000' });
  });
});

describe('sending', () => {
  test('pay of what was paid before says that nothing was sent now', async () => {
    const before = 'It was paid before: nothing was sent now.';
    const { invoice } = await world.json('sandbox', 'invoice', '5');
    const first = await world.run('pay', invoice);
    expect(first.stderr).not.toContain(before);
    // Clocks of two machines that differ by less must not make it of a payment that was sent now.
    const paidAtMs = Date.now();
    await until(() => Date.now() > paidAtMs + 5500, 'it is long ago');
    const again = await world.run('pay', invoice);
    expect(again.stdout).toBe(first.stdout);
    expect(again.stderr).toEndWith(`\n${before}`);
    expect((await world.run('pay', invoice, '--json')).stderr).not.toContain(before);
    const shown = startOnTerminal(['pay', invoice, '--yes'], { columns: 100, env: env() });
    await shown.shows(before);
    expect(await shown.exit()).toBe(0);
    const failing = await world.json('sandbox', 'invoice', '5', '--behavior', 'fail');
    expect((await world.run('pay', failing.invoice)).stderr).not.toContain(before);
  });

  test('keysend pays a node', async () => {
    const { node_pk } = await world.json('sandbox', 'wallet');
    const paid = await world.json('keysend', node_pk, '40', '--message', 'hi');
    expect(paid).toMatchObject({ status: 'completed', rail: 'spontaneous', message: 'hi' });
  });

  test('pay --max-fee and --priority bound and hasten what is sent on chain, and bump raises it', async () => {
    const { address } = await world.api('POST', '/v2/node/get_next_unused_address', {}, world.bob);
    const dear = ['pay', address, '20000', '--priority', 'background', '--max-fee', '1'];
    expect(await world.run(...dear)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/above the limit of 1 sats/),
    });
    const sent = await world.json(...dear.slice(0, -1), '5000');
    expect(sent).toMatchObject({ status: 'pending', priority: 'background' });
    const bumped = await world.json('bump', sent.index, '--max-fee', '50000');
    expect(bumped.index).toBe(sent.index);
    await world.json('sandbox', 'block', '6');
    expect(await world.json('wait', sent.index)).toMatchObject({ status: 'completed' });
    const { stdout } = await world.run('export', '--format', 'jsonl');
    const rows = stdout.split('\n').map((line) => JSON.parse(line));
    // What the child gave to miners is in no payment, and left the wallet all the same.
    const child = rows.find(({ tx }) =>
      tx?.input.some((input: { previous_output: string }) =>
        input.previous_output.startsWith(sent.txid),
      ),
    );
    expect(child).toMatchObject({ direction: 'info', amount: '0', change: `-${child?.fees}` });
  });

  test('channels open, list and close', async () => {
    const { channel_id } = await world.json('channels', 'open', '30000', '--id', 'c1'.repeat(16));
    await world.json('sandbox', 'block', '6');
    const { channels } = await world.json('channels', 'list');
    expect(channels).toContainEqual(
      expect.objectContaining({ channel_id, channel_value: '30000' }),
    );
    expect((await world.run('channels', 'close', channel_id)).exitCode).toBe(0);
  });
});

describe('clients show', () => {
  test('says what is left of a budget, and without a client who is calling', async () => {
    const scope = ['--scope', 'read_info,read_payments,send'];
    const made = await world.json('clients', 'create', ...scope, '--budget', '1000/total');
    const credentials = { ...env(), SERVICE_CLIENT_CREDENTIALS: made.client_credentials };
    const { invoice } = await world.json('sandbox', 'invoice', '400');
    const paid = await runBinary(['pay', invoice, '--max-fee', '5'], credentials);
    expect(paid.exitCode).toBe(0);
    const { stdout } = await world.run('clients', 'show', made.client_pk);
    const spent = Number(/^Budget +([\d.]+) of 1,000 sats in all$/m.exec(stdout)?.[1]);
    expect(spent).toBeGreaterThanOrEqual(400);
    expect(stdout).toMatch(new RegExp(`^Left +${1000 - spent} sats$`, 'm'));
    expect((await runBinary(['clients', 'show'], credentials)).stdout).toBe(stdout);
    expect((await world.run('clients', 'show')).stdout).toMatch(/^Client +none: the owner/);
  });
});

describe('payments in the order of their updates', () => {
  test('updates and wait --next go on from a position', async () => {
    const { updated_index, payments } = await world.json('updates', '--limit', '2');
    expect(payments).toHaveLength(2);
    const [third] = (await world.json('updates', '--after', updated_index)).payments;
    const next = await world.json('wait', '--next', '--after', updated_index);
    expect(next.payment.index).toBe(third.index);
  });

  test('events prints each update on a line, and goes on after a position', async () => {
    const before = (await world.json('updates', '--limit', '1')).updated_index;
    const following = startBinary(['events', '--json', '--after', before], { env: env() });
    const { index } = await world.json('invoice', '11');
    const lines = () => following.stdout().trim().split('\n').filter(Boolean);
    await until(() => following.stdout().includes(index), 'the update was printed');
    following.signal('SIGINT');
    expect(await following.exit()).toBe(130);
    const events = lines().map((line) => JSON.parse(line));
    const last = events.findLast(({ payment }) => payment.index === index);
    expect(last.payment).toMatchObject({ amount: '11', status: 'pending' });
    expect(following.stderr()).toContain(`Continue with --after ${events.at(-1).updated_index}`);
    const again = startBinary(['events', '--after', before], { env: env() });
    await until(() => again.stdout().includes(index), 'the update was printed again');
    again.signal('SIGINT');
    await again.exit();
    expect(again.stdout().trim().split('\n').length).toBeGreaterThanOrEqual(events.length);
  });
});

describe('export', () => {
  test('lists what was completed with a running balance, fees included', async () => {
    const { payments } = await world.json('payments', '--filter', 'completed', '--limit', '1000');
    const { stdout } = await world.run('export', '--format', 'jsonl');
    const rows = stdout
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind !== 'difference');
    expect(rows.map(({ index }) => index).toSorted()).toEqual(
      payments.map(({ index }: { index: string }) => index).toSorted(),
    );
    let balanceMsat = 0;
    const msat = (amount: string) => Math.round(Number(amount) * 1000);
    for (const { direction, amount, fees, change, balance } of rows) {
      const signed = {
        inbound: msat(amount),
        outbound: -msat(amount) - msat(fees),
        info: 0 - msat(fees),
      };
      expect(msat(change)).toBe(signed[direction as keyof typeof signed]);
      balanceMsat += msat(change);
      expect(msat(balance)).toBe(balanceMsat);
    }
    expect(rows.map(({ finalized_at }) => finalized_at)).toEqual(
      rows.map(({ finalized_at }) => finalized_at).toSorted((a, b) => a - b),
    );
  });

  test('an export that ends early fails, with the row that says so', async () => {
    const row = { kind: 'incomplete', finalized_at: 5, reason: 'x', change: '0', balance: '7' };
    const answers = [
      ['application/x-ndjson', `${JSON.stringify(row)}\n`, /ended early/],
      [
        'text/csv',
        'completed_at\n2030-01-01T00:00:00.000Z,,,incomplete,,,0,7,x,,,,,,,\n',
        /ended early/,
      ],
      ['text/csv', 'completed_at\n2030-01-01T00:00:00.000Z,,inbou', /broke before/],
    ] as const;
    for (const [type, text, said] of answers) {
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => new Response(text, { headers: { 'content-type': type } }),
      });
      const format = type === 'text/csv' ? 'csv' : 'jsonl';
      const url = { SERVICE_SIDECAR_URL: `http://127.0.0.1:${server.port}` };
      const ended = await runBinary(['export', '--format', format], url);
      await server.stop(true);
      expect(ended.exitCode).toBe(1);
      expect(ended.stderr).toMatch(said);
      expect(ended.stdout).toBe(text.split('\n').slice(0, -1).join('\n'));
    }
  });

  test('a day later, the balance goes on from what was before', async () => {
    const before = ['export', '--format', 'jsonl', '--until', '2100-01-01'];
    const all = (await world.run(...before)).stdout.split('\n');
    const since = JSON.parse(all.at(-1) ?? '').finalized_at;
    const last = await world.run(
      'export',
      '--format',
      'jsonl',
      '--since',
      String(since),
      '--until',
      String(since + 1),
    );
    const [forward = '', ...lines] = last.stdout.split('\n');
    expect(JSON.parse(forward)).toMatchObject({ kind: 'balance_forward' });
    expect(lines.at(-1)).toBe(all.at(-1) ?? '');
  });

  test('CSV quotes, and gives a spreadsheet no formulas of others', async () => {
    const { index, invoice } = await world.json('invoice', '1', '--note', '=1+1,"x"');
    await world.json('sandbox', 'pay', invoice);
    await world.json('wait', index);
    const [heading = '', ...lines] = (await world.run('export')).stdout.split('\n');
    expect(heading).toMatch(/^completed_at,created_at,direction,kind,amount,fees,change,balance,/);
    const line = lines.find((one) => one.endsWith(index)) ?? '';
    expect(line).toContain(`,1,0,1,`);
    expect(line).toContain(`,"'=1+1,""x""",`);
  });
});

describe('health', () => {
  test('--wait waits for a sidecar that is not there yet', async () => {
    const port = freePort();
    const waiting = runBinary(['health', '--wait'], {
      SERVICE_SIDECAR_URL: `http://127.0.0.1:${port}`,
    });
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port,
      fetch: () => Response.json({ status: 'ok' }),
    });
    expect(await waiting).toMatchObject({ exitCode: 0, stdout: 'ok' });
    await server.stop(true);
  });

  test('ends with 1 when the time is over, and with what is missing', async () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.json({ status: 'The node is locked.' }),
    });
    const url = { SERVICE_SIDECAR_URL: `http://127.0.0.1:${server.port}` };
    expect(await runBinary(['health', '--wait', '--timeout', '0'], url)).toMatchObject({
      exitCode: 1,
      stdout: 'The node is locked.',
      stderr: 'Something is missing, as the status says.',
    });
    await server.stop(true);
  });

  test('--wait ends with 1 when the time is over where a sidecar accepts and never answers', async () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      fetch: () => new Promise<Response>(() => undefined),
    });
    const waiting = startOnTerminal(['health', '--wait', '--timeout', '2'], {
      columns: 100,
      env: { ...BARE_ENV, SERVICE_SIDECAR_URL: `http://127.0.0.1:${server.port}` },
    });
    await waiting.shows('Waiting until the sidecar is ready... 1 s');
    expect(await waiting.exit()).toBe(1);
    expect(waiting.screen()).toContain('does not answer');
    expect(waiting.screen()).not.toContain('Waiting for the sidecar');
    await server.stop(true);
  });
});

test('the root seed sets up its wallet by signup and provision', async () => {
  const { root_seed } = JSON.parse((await runBinary(['seed', 'new', '--json'])).stdout);
  const args = ['serve', '--data-dir', ':memory:', '--listen-addr', '127.0.0.1:0'];
  const server = startBinary(args, { env: { SERVICE_ROOT_SEED: root_seed } });
  const url = { SERVICE_SIDECAR_URL: await server.ready() };
  expect((await runBinary(['signup'], url)).exitCode).toBe(0);
  expect((await runBinary(['provision'], url)).exitCode).toBe(0);
  expect((await runBinary(['info'], url)).stdout).toMatch(/^Balance +0 sats$/m);
  await server.stop();
});
