import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { encode } from 'uqr';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { type CliWorld, openCliWorld } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
beforeAll(async () => {
  world = await openCliWorld();
});
afterAll(() => world.close());

/** Text without characters that a terminal could obey, except line feeds. */
const HARMLESS = /^[^\p{C}]*(\n[^\p{C}]*)*$/u;
/** The key that a payment without one is given. */
const KEY = /^Idempotency-Key: [0-9a-f-]{36}$/;
const HOSTILE = 'thanks\u001b[2J\u009b31m\u202e';

describe('info', () => {
  test('shows balances with thousands separators', async () => {
    const { exitCode, stdout, stderr } = await world.run('info');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^On chain +1,000,000 sats$/m);
    expect(stdout).toMatch(/^Node key +0[23][0-9a-f]{64}$/m);
  });

  test('--json prints the answer of the API unchanged', async () => {
    const { stdout } = await world.run('info', '--json');
    expect(stdout).toBe(await world.text('/v2/node/node_info'));
  });
});

describe('invoice', () => {
  test('prints the string, a QR code that holds it, and the index', async () => {
    const { exitCode, stdout } = await world.run('invoice', '1000', '--description', 'Coffee');
    expect(exitCode).toBe(0);
    const [invoice = '', ...rest] = stdout.split('\n');
    const index = rest.pop() ?? '';
    expect(index).toMatch(/^Index {2}\d{19}-ln_[0-9a-f]{64}$/);
    expect(modulesOf(rest)).toEqual(
      encode(`LIGHTNING:${invoice.toUpperCase()}`, { border: 2, ecc: 'L' }).data,
    );
    const { payables } = await world.json('analyze', invoice);
    expect(payables).toMatchObject([{ kind: 'invoice', amount: '1000', description: 'Coffee' }]);
  });

  test('--no-qr leaves the QR code out, --expiry and --note are obeyed', async () => {
    const shown = await world.run('invoice', '--no-qr');
    expect(shown.stdout.split('\n')).toHaveLength(2);
    const made = await world.json('invoice', '0.5', '--expiry', '15m', '--note', 'mine');
    expect(made).toMatchObject({ amount: '0.5', description: null });
    // An invoice holds times in whole seconds.
    expect(made.expires_at).toBe((Math.floor(made.created_at / 1000) + 900) * 1000);
    const pending = (await world.run('show', made.index)).stdout;
    expect(pending).toMatch(new RegExp(`^Invoice +${made.invoice}$`, 'm'));
    expect(pending).toMatch(/^Expires +20/m);
    const payment = await world.api('GET', `/v2/node/payment?index=${made.index}`);
    expect(payment.personal_note).toBe('mine');
  });

  test('--description-hash stands in the invoice', async () => {
    const hash = 'a7'.repeat(32);
    const { invoice } = await world.json('invoice', '3', '--description-hash', hash);
    expect(decodeBolt11(invoice).descriptionHash).toBe(hash);
    const { exitCode, stderr } = await world.run('invoice', '3', '--description-hash', 'a7');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('64 hex characters');
  });

  test('--payment-hash makes an invoice for that hash', async () => {
    const hash = 'b3'.repeat(32);
    const made = await world.json('invoice', '3', '--payment-hash', hash);
    expect(made.payment_hash).toBe(hash);
    expect(decodeBolt11(made.invoice).paymentHash).toBe(hash);
  });

  test('--wait follows the invoice to its payment, with progress on stderr', async () => {
    const waiting = world.run('invoice', '2500', '--note', 'waited for', '--wait', '--no-qr');
    await payWhenPending('waited for');
    const { exitCode, stdout, stderr } = await waiting;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^lnbcrt/);
    expect(stdout).toMatch(/^Status +completed$/m);
    expect(stdout).toMatch(/^Amount +2,500 sats$/m);
    expect(stderr).toMatch(/^Waiting .*\nThe payment is completed\.$/);
  });

  test('--wait --json prints the invoice and the payment, one to a line', async () => {
    const waiting = world.run('invoice', '7', '--note', 'json wait', '--wait', '--json');
    await payWhenPending('json wait');
    const [invoice, payment] = (await waiting).stdout.split('\n').map((line) => JSON.parse(line));
    expect(payment).toMatchObject({ index: invoice.index, status: 'completed', amount: '7' });
  });

  test('--wait ends with 1 when the invoice can no longer be paid', async () => {
    const waiting = world.run('invoice', '7', '--note', 'to cancel', '--wait');
    const { index } = await pendingWithNote('to cancel');
    await world.api('POST', '/v2/node/cancel_payment', { index });
    const { exitCode, stderr } = await waiting;
    expect(exitCode).toBe(1);
    expect(stderr).toEndWith('The payment failed: canceled.');
  });
});

describe('offer and address', () => {
  test('offer prints an offer with its description, least amount and QR code', async () => {
    const flags = ['--description', 'Gifts', '--min-amount', '1234', '--expiry', '30d'];
    const { stdout } = await world.run('offer', ...flags);
    const [offer = '', ...qr] = stdout.split('\n');
    expect(modulesOf(qr)).toEqual(encode(offer.toUpperCase(), { border: 2, ecc: 'L' }).data);
    const explained = await world.run('analyze', offer);
    expect(explained.stdout).toMatch(/^Amount +yours to choose, at least 1,234 sats$/m);
    expect(explained.stdout).toMatch(/^Description +Gifts$/m);
    expect(explained.stdout).toMatch(/^Expires +\d{4}-/m);
    expect(await world.json('offer', '--no-qr')).toMatchObject({
      offer: expect.stringMatching(/^lno1/),
    });
  });

  test('address prints an address that BIP 21 wallets can scan', async () => {
    const [address = '', ...qr] = (await world.run('address')).stdout.split('\n');
    expect(address).toMatch(/^bcrt1/);
    expect(modulesOf(qr)).toEqual(
      encode(`BITCOIN:${address.toUpperCase()}`, { border: 2, ecc: 'L' }).data,
    );
    expect((await world.run('address', '--no-qr')).stdout).toBe(address);
    expect(await world.json('address')).toEqual({ address });
    expect((await world.json('address', '--type', 'taproot')).address).toMatch(/^bcrt1p/);
  });
});

describe('pay', () => {
  test('shows the completed payment', async () => {
    const { invoice } = await world.api('POST', '/sandbox/invoice', { amount: '12345' });
    const { exitCode, stdout, stderr } = await world.run('pay', invoice, '--note', 'rent');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(KEY) });
    expect(stdout).toMatch(/^Status +completed$/m);
    expect(stdout).toMatch(/^Amount +12,345 sats$/m);
    expect(stdout).toMatch(/^Note +rent$/m);
  });

  test('amount, message and max fee reach the API', async () => {
    const { offer } = await world.api('POST', '/v2/node/create_offer', {}, world.bob);
    const paid = await world.json('pay', offer, '--amount', '12.5', '--message', 'hi');
    expect(paid).toMatchObject({ status: 'completed', amount: '12.5', message: 'hi' });
    const { invoice } = await world.api('POST', '/sandbox/invoice', { amount: '50000' });
    const capped = await world.run('pay', invoice, '--max-fee', '0');
    expect(capped).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('fee') });
  });

  test('a payment that fails ends with 1 and its reason, and --json still prints it', async () => {
    const outside = { amount: '10', behavior: 'fail' };
    const { invoice } = await world.api('POST', '/sandbox/invoice', outside);
    const args = ['pay', invoice, '--json', '--idempotency-key', 'fails'];
    const { exitCode, stdout, stderr } = await world.run(...args);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', status_msg: expect.any(String) });
    expect(stderr).toBe(`The payment failed: ${JSON.parse(stdout).status_msg}.`);
  });

  test('an error ends with 1, a sentence on stderr, and with --json the error of the API', async () => {
    const words = await world.run('pay', 'zork', '--idempotency-key', 'x');
    expect(words).toMatchObject({ exitCode: 1, stdout: '' });
    expect(words.stderr).toMatch(/^\S.*\(error 7\)\.$/);
    const { exitCode, stdout, stderr } = await world.run(
      'pay',
      'zork',
      '--json',
      '--idempotency-key',
      'x',
    );
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ code: 7, sensitive: false });
    expect(stderr).toBe(words.stderr);
  });

  test('the same idempotency key never pays twice', async () => {
    const { offer } = await world.api('POST', '/v2/node/create_offer', {}, world.bob);
    const args = ['pay', offer, '--amount', '5', '--idempotency-key', 'order-17'];
    const { index } = await world.json(...args);
    expect((await world.json(...args)).index).toBe(index);
    expect((await world.json(...args.slice(0, -2))).index).not.toBe(index);
  });

  test('an on-chain payment ends with 0 while it is pending', async () => {
    const { address } = await world.api('POST', '/v2/node/get_next_unused_address', {}, world.bob);
    const { exitCode, stdout } = await world.run('pay', address, '--amount', '20000');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Status +pending \(broadcasted\)$/m);
    expect(stdout).toMatch(/^Transaction +[0-9a-f]{64}$/m);
  });
});

describe('analyze', () => {
  test('lists every way in the order of recommendation, with nothing paid', async () => {
    const { offer } = await world.api('POST', '/v2/node/create_offer', {});
    const { address } = await world.api('POST', '/v2/node/get_next_unused_address', {});
    const uri = `bitcoin:${address}?amount=0.0123&lno=${offer}`;
    const { stdout } = await world.run('analyze', uri);
    expect(stdout.match(/^To pay +(\S+)/gm)).toEqual([
      expect.stringContaining('offer'),
      expect.stringContaining('onchain'),
    ]);
    expect(stdout).toMatch(/^Amount +1,230,000 sats$/m);
    const path = `/v2/node/analyze?payment_string=${encodeURIComponent(uri)}`;
    expect((await world.run('analyze', uri, '--json')).stdout).toBe(await world.text(path));
  });
});

describe('payments', () => {
  test('brings the cache up to date first, unless --no-sync', async () => {
    await world.api('POST', '/v2/node/clear_payments', {});
    expect((await world.run('payments', '--no-sync')).stdout).toBe('No payments.');
    expect((await world.run('payments')).stdout).toMatch(/^Created +Direction/);
  });

  test('the table stands in columns, amounts right and with thousands separators', async () => {
    const { stdout } = await world.run('payments', '--order', 'asc', '--limit', '3');
    const [heading = '', ...rows] = stdout.split('\n');
    const end = heading.indexOf('Sats') + 'Sats'.length;
    expect(rows).toHaveLength(3);
    expect(rows.some((row) => row.slice(0, end).endsWith(' 1,000,000'))).toBe(true);
    for (const row of rows) {
      expect(row.slice(end - 1, end + 1)).toMatch(/^\d $/);
      expect(row.indexOf(' 000000')).toBe(heading.indexOf('Index') - 1);
    }
  });

  test('filter, order, limit, direction and rail select, and --after goes on', async () => {
    const flags = ['--filter', 'completed', '--direction', 'outbound', '--rail', 'offer'];
    const all = await world.json('payments', ...flags, '--order', 'asc');
    const query = 'filter=completed&direction=outbound&rail=offer&order=asc&limit=100';
    expect(all).toEqual(JSON.parse(await world.text(`/v2/node/list_payments?${query}`)));
    expect(all.payments.length).toBeGreaterThan(1);
    const page = await world.run('payments', ...flags, '--order', 'asc', '--limit', '1');
    const next = /--after (\S+)/.exec(page.stderr)?.[1] ?? '';
    expect(page.stdout).toContain(all.payments[0].index);
    const rest = await world.json('payments', ...flags, '--order', 'asc', '--after', next);
    expect(rest.payments[0].index).toBe(all.payments[1].index);
  });

  test('--since and --until take dates and durations', async () => {
    expect((await world.json('payments', '--since', '1h')).payments.length).toBeGreaterThan(1);
    expect((await world.json('payments', '--until', '1h')).payments).toEqual([]);
    expect((await world.json('payments', '--since', '2999-01-31')).payments).toEqual([]);
  });
});

describe('wait', () => {
  test('a finalized payment is shown at once', async () => {
    const { invoice } = await world.api('POST', '/sandbox/invoice', { amount: '3' });
    const { index } = await world.api('POST', '/v2/node/pay_invoice', { invoice });
    const { exitCode, stdout } = await world.run('wait', index);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Status +completed$/m);
    expect(await world.json('wait', index, '--timeout', '1m')).toMatchObject({ index });
  });

  test('a time that is over ends with 1 and error 4', async () => {
    const { index } = await world.api('POST', '/v2/node/create_invoice', {});
    const { exitCode, stdout, stderr } = await world.run('wait', index, '--timeout', '0', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ code: 4 });
    expect(stderr).toMatch(/\(error 4\)\.$/);
  });
});

describe('note', () => {
  test('sets a note and clears it', async () => {
    const { index } = await world.api('POST', '/v2/node/create_invoice', {});
    const noteOf = async () =>
      (await world.api('GET', `/v2/node/payment?index=${index}`)).personal_note;
    expect(await world.run('note', index, 'For Bob')).toEqual({
      exitCode: 0,
      stdout: 'Noted.',
      stderr: '',
    });
    expect(await noteOf()).toBe('For Bob');
    expect(await world.json('note', index, '--clear')).toEqual({});
    expect(await noteOf()).toBeNull();
  });
});

test('what others write never reaches the terminal raw, and --json loses nothing of it', async () => {
  const { offer } = await world.api('POST', '/v2/node/create_offer', {});
  const body = { offer, amount: '4', message: HOSTILE };
  await world.api('POST', '/v2/node/pay_offer', body, world.bob);
  const table = await world.run('payments', '--limit', '1');
  expect(table.stdout).toContain('thanks\\u{1b}[2J');
  expect(table.stdout).toMatch(HARMLESS);
  const json = await world.run('payments', '--limit', '1', '--json');
  expect(json.stdout).toMatch(HARMLESS);
  expect(JSON.parse(json.stdout).payments).toMatchObject([{ message: HOSTILE }]);
  const described = await world.api('POST', '/v2/node/create_offer', { description: HOSTILE });
  expect((await world.run('analyze', described.offer)).stdout).toMatch(HARMLESS);
});

/** Resolves to the payment with this note, once it exists. */
async function pendingWithNote(note: string): Promise<{ index: string; invoice: string }> {
  return until(async () => {
    const { payments } = await world.api('GET', '/v2/node/updated_payments?limit=100');
    return payments.find((payment: { personal_note: string }) => payment.personal_note === note);
  }, 'the payment is there') as Promise<{ index: string; invoice: string }>;
}

async function payWhenPending(note: string): Promise<void> {
  const { invoice } = await pendingWithNote(note);
  await world.api('POST', '/v2/node/pay_invoice', { invoice }, world.bob);
}

/** Reads the half blocks of a QR code back into modules. Drawn modules are light. */
function modulesOf(lines: readonly string[]): boolean[][] {
  const size = [...(lines[0] ?? '')].length;
  const rows = lines.flatMap((line) => [
    [...line].map((block) => block === ' ' || block === '▄'),
    [...line].map((block) => block === ' ' || block === '▀'),
  ]);
  return rows.slice(0, size);
}
