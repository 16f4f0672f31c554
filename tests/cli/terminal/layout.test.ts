import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Column, table } from '../../../src/cli/terminal/table.ts';
import { BARE_ENV, startOnTerminal } from '../../support/binary.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { type CliWorld, openCliWorld, runBinary } from '../sidecar.ts';
import { readQr, THEMES } from './rendering.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
beforeAll(async () => {
  world = await openCliWorld();
  await world.run('invoice', '2500', '--no-qr', '--note', 'x'.repeat(60));
  await world.run('clients', 'create', '--scope', 'send', '--budget', '100/day', '--label', 'shop');
});
afterAll(() => world.close());

/** Runs a command on a terminal of that width. Resolves to its lines once it has ended. */
async function onTerminal(
  columns: number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const url = { SERVICE_DATA_DIR: world.dataDir };
  const program = startOnTerminal(args, { columns, env: { ...BARE_ENV, ...url, ...env } });
  const exitCode = await program.exit();
  return { exitCode, screen: program.screen(), lines: program.screen().split('\r\n') };
}

describe('a table', () => {
  for (const columns of [80, 50]) {
    for (const args of [
      ['payments'],
      ['updates'],
      ['channels', 'list'],
      ['clients', 'list'],
      ['webhooks', 'list'],
    ]) {
      test(`${args.join(' ')} fits ${columns} columns`, async () => {
        const { exitCode, lines } = await onTerminal(columns, args);
        expect(exitCode).toBe(0);
        // Hints stand on stderr, and wrap.
        const table = lines.filter((line) => !/^(Cut to|Continue with)/.test(line));
        expect(table.length).toBeGreaterThan(1);
        expect(table.filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
      });
    }
  }

  test('leaves out what is nowhere filled in before it cuts texts', () => {
    const columns: Column<string>[] = [
      { title: 'Text', of: (text) => text, least: 5, leaves: 1 },
      { title: 'Next attempt', of: () => '', leaves: 2 },
      { title: 'Id', of: () => 'id' },
    ];
    const text = 'ten letters';
    expect(table(columns, [text], 30)).toEqual([
      'Text         Next attempt  Id',
      `${text}                id`,
    ]);
    expect(table(columns, [text], 20)).toEqual(['Text         Id', `${text}  id`]);
  });

  test('says on a terminal how to see everything, and --wide and other outputs are whole', async () => {
    const [{ index }] = (await world.json('payments')).payments;
    const cut = await onTerminal(80, ['payments']);
    expect(cut.screen).toContain('--wide shows everything');
    expect(cut.screen).not.toContain(index);
    const wide = await onTerminal(80, ['payments', '--wide']);
    expect(wide.screen).toContain(index);
    expect(wide.screen).not.toContain('Cut to');
    const piped = await world.run('payments');
    expect(piped).toMatchObject({ stdout: expect.stringContaining(index), stderr: '' });
  });
});

describe('help', () => {
  for (const columns of [80, 200]) {
    test(`wraps at 80 on a terminal of ${columns} columns`, async () => {
      for (const args of [['--help'], ['clients', 'create', '--help'], ['pay', '--help']]) {
        const { lines } = await onTerminal(columns, args);
        expect(lines.filter((line) => line.length > 80)).toEqual([]);
      }
    });
  }
});

describe('a QR code', () => {
  for (const [name, theme] of Object.entries(THEMES)) {
    test(`can be read on a ${name} terminal`, async () => {
      const { lines } = await onTerminal(100, ['invoice', '1000']);
      const [invoice = ''] = lines;
      const code = lines.filter((line) => line.startsWith('\u001b'));
      expect(readQr(code, theme)).toBe(`LIGHTNING:${invoice.toUpperCase()}`);
    });
  }

  test('that is wider than the terminal is not shown broken', async () => {
    const { screen } = await onTerminal(40, ['invoice', '1000']);
    expect(screen).toContain('needs a terminal of');
    expect(screen).not.toContain('█');
  });
});

describe('colours', () => {
  test('hints are not red', async () => {
    const { screen } = await onTerminal(80, ['webhooks', 'secret']);
    expect(screen).toContain('Keep it secret');
    expect(screen).not.toContain('\u001b');
  });
});

describe('times', () => {
  const index = async () => (await world.json('payments')).payments[0];

  test('are those of the time zone of the machine, --utc gives UTC', async () => {
    const payment = await index();
    const show = (...flags: readonly string[]) =>
      runBinary(['show', payment.index, ...flags], {
        SERVICE_DATA_DIR: world.dataDir,
        TZ: 'Asia/Kolkata',
      });
    const utc = new Date(payment.created_at).toISOString().slice(0, 19).replace('T', ' ');
    const shifted = new Date(payment.created_at + 5.5 * 3_600_000).toISOString();
    const local = shifted.slice(0, 19).replace('T', ' ');
    expect((await show()).stdout).toContain(`Created    ${local} +05:30`);
    expect((await show('--utc')).stdout).toContain(`Created    ${utc}Z`);
  });

  test('that are typed are read in the same zone', async () => {
    const { created_at } = await index();
    const since = (text: string, ...flags: readonly string[]) =>
      runBinary(['payments', '--json', '--since', text, ...flags], {
        SERVICE_DATA_DIR: world.dataDir,
        TZ: 'Pacific/Kiritimati',
      });
    const later = new Date(created_at + 3_600_000).toISOString().slice(0, 16);
    // In a zone 14 hours before UTC the same words are an earlier time.
    expect(JSON.parse((await since(later)).stdout).payments).not.toEqual([]);
    expect(JSON.parse((await since(later, '--utc')).stdout).payments).toEqual([]);
  });
});

test('what takes longer than a second says so on a terminal, and takes it away again', async () => {
  const { index } = await world.json('invoice', '7');
  const env = { ...BARE_ENV, SERVICE_DATA_DIR: world.dataDir };
  const waiting = startOnTerminal(['wait', index], { columns: 80, env });
  await waiting.shows('Waiting for the payment... 1 s');
  await world.api('POST', '/v2/node/cancel_payment', { index });
  expect(await waiting.exit()).toBe(1);
  expect(waiting.screen()).toContain(' s\r\u001b[KThe payment is failed');
});
