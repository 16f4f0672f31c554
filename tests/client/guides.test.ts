import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { pageText, ROOT, sectionOf } from '../support/pages.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const PYTHON = process.env.PYTHON ?? 'python3';
const hasPython =
  Bun.which(PYTHON) !== null &&
  Bun.spawnSync([PYTHON, '-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).success;
if (!hasPython) console.warn(`SKIPPED: the guide for Python, since ${PYTHON} is not Python 3.10.`);

/** A project that has installed the client for TypeScript. */
const project = temporaryFolder('guides');
let world: ConformanceWorld;

beforeAll(async () => {
  world = await openConformanceWorld();
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(join(ROOT, 'dist', 'client'), join(project, 'node_modules', 'wallet-sidecar'));
  symlinkSync(join(ROOT, 'node_modules', '@types'), join(project, 'node_modules', '@types'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
});
afterAll(async () => {
  await world.close();
  removeFolder(project);
});

/** Returns the program that the blocks of a text are together. */
function programOf(text: string, language: string): string {
  const blocks = [
    ...text.matchAll(new RegExp(`^\`\`\`${language}\n([^\`]*(?:\`[^\`]+)*?)^\`\`\`$`, 'gm')),
  ];
  expect(blocks.length).toBeGreaterThan(0);
  return blocks.map(([, block]) => block).join('\n');
}

/**
 * Runs a program with a wallet of its own. Pays every invoice that it prints, as a customer does. Resolves to what it
 * printed, when it has ended or has printed `last`.
 */
async function follow(
  name: string,
  program: string,
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly last?: string;
    readonly meanwhile?: () => Promise<void>;
  } = {},
): Promise<string> {
  const file = join(project, name);
  writeFileSync(file, program);
  const { client_credentials } = await world.post('/sandbox/wallets');
  const child = Bun.spawn([name.endsWith('.py') ? PYTHON : process.execPath, file], {
    cwd: project,
    env: {
      ...process.env,
      PYTHONPATH: join(ROOT, 'clients', 'python', 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      SIDECAR_URL: world.baseUrl,
      SIDECAR_CREDENTIALS: String(client_credentials),
      ...options.env,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const errors = new Response(child.stderr).text();
  let printed = '';
  const paid = new Set<string>();
  try {
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of child.stdout) {
        printed += decoder.decode(bytes, { stream: true });
        for (const [, invoice = ''] of printed.matchAll(/\b(lnbcrt\w+)\n/g)) {
          if (paid.has(invoice)) continue;
          paid.add(invoice);
          await world.post('/sandbox/pay', { payable: invoice });
        }
      }
    })();
    if (options.meanwhile) await options.meanwhile();
    const { last } = options;
    if (last !== undefined) {
      await until(() => printed.includes(last) || child.exitCode !== null, `it to print ${last}`);
      expect(printed).toContain(last);
    } else {
      await reading;
      expect([name, await child.exited, await errors]).toEqual([name, 0, '']);
    }
  } finally {
    child.kill();
    await child.exited;
  }
  return printed;
}

test('the guide for TypeScript is one program, which does what its words say', async () => {
  const guide = sectionOf('docs/client.md', 'TypeScript');
  const program = programOf(guide, 'ts');
  const { invoice } = await world.post('/sandbox/invoice', { amount: '500' });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const hookPort = freePort();
  const url = `http://127.0.0.1:${hookPort}/hook`;
  const post = () => fetch(url, { method: 'POST', body: '{}' });
  const printed = await follow('guide.ts', program, {
    env: {
      INVOICE: String(invoice),
      WEBHOOK_PORT: String(hookPort),
      WEBHOOK_SECRET: secret,
      // Before all payments.
      PLACE: `u${'0'.repeat(19)}-ln_${'0'.repeat(64)}`,
    },
    meanwhile: async () => {
      const unsigned = await until(() => post().catch(() => null), 'the receiver');
      expect(unsigned?.status).toBe(400);
      const endpoint = await world.post('/v2/webhooks/endpoints', { url, secret });
      expect(await world.post('/v2/webhooks/endpoints/test', { id: endpoint.id })).toMatchObject({
        delivered: true,
        http_status: 200,
      });
    },
    last: 'webhook.test tells of ',
  });
  expect(printed.replace(/lnbcrt\w+/, '<invoice>')).toMatch(
    /^the wallet has [\d.]+ sats\npay <invoice>\norder 17 is completed\npaid 500 sats, fees \d+(\.\d+)?\n/,
  );
  expect(printed).toContain('inbound completed\n');
  expect(printed).toMatch(/outbound completed\nspent 50\d(\.\d+)? sats\namount must be satoshis/);
});

test('the guide for TypeScript has the right types', () => {
  writeFileSync(
    join(project, 'guide.ts'),
    programOf(sectionOf('docs/client.md', 'TypeScript'), 'ts'),
  );
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const flags = '--noEmit --strict --module nodenext --target es2022 --types node guide.ts';
  const { stdout } = Bun.spawnSync([tsc, ...flags.split(' ')], { cwd: project });
  expect(stdout.toString()).toBe('');
});

test('the example of the package for TypeScript takes a payment', async () => {
  const printed = await follow('readme.ts', programOf(pageText('src/client/README.md'), 'ts'));
  expect(printed).toEndWith('\ncompleted\n');
});

for (const page of ['docs/client.md', 'clients/python/README.md']) {
  test.skipIf(!hasPython)(`the examples for Python in ${page} take payments`, async () => {
    const { invoice } = await world.post('/sandbox/invoice', { amount: '300' });
    const program = programOf(pageText(page), 'python');
    const printed = await follow('guide.py', program, { env: { INVOICE: String(invoice) } });
    expect(printed).toContain('\ncompleted 1000\n');
    if (program.includes('def pay_once')) expect(printed).toMatch(/^completed: 300 sats, fees \d/m);
    expect(printed).toContain('order-2 completed\n');
    expect(printed).toContain('order-3 completed\n');
  });
}
