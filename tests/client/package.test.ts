import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const ROOT = join(import.meta.dir, '..', '..');
/** A project that has installed the package, and nothing else. */
const project = realpathSync(temporaryFolder('package'));
const installed = join(project, 'node_modules', 'wallet-sidecar');
let world: ConformanceWorld;

beforeAll(async () => {
  world = await openConformanceWorld();
  mkdirSync(installed, { recursive: true });
  run(ROOT, ['npm', 'pack', './dist/client', '--pack-destination', project]);
  const [archive = ''] = readdirSync(project).filter((name) => name.endsWith('.tgz'));
  run(project, ['tar', '-xzf', archive, '-C', installed, '--strip-components=1']);
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(project, 'pay.js'),
    `import { ERROR_CODES, WalletSidecar, WalletSidecarError } from 'wallet-sidecar';
     const [url, credentials] = [process.env.SIDECAR_URL, process.env.SIDECAR_CREDENTIALS];
     const shop = new WalletSidecar({ url });
     const customer = new WalletSidecar({ url, credentials });
     const { updated_index } = await shop.updatedPayments();
     const { invoice, index } = await shop.createInvoice({ amount: '1000' });
     const events = shop.events({ startIndex: updated_index });
     const paid = customer.pay({ payable: invoice }, { idempotencyKey: invoice.slice(-60) });
     const { value } = await events.next();
     await events.return();
     const again = await customer.pay({ payable: invoice }, { idempotencyKey: invoice.slice(-60) });
     const unknown = await shop.payment({ index: index.replace(/.$/, 'z') }).catch((error) => error);
     console.log(JSON.stringify({
       sameIndex: value.payment.index === index,
       status: (await paid).status,
       sameAgain: again.index === (await paid).index,
       refused: unknown instanceof WalletSidecarError && unknown.code === ERROR_CODES.rejected,
     }));`,
  );
});
afterAll(async () => {
  await world.close();
  removeFolder(project);
});

function run(cwd: string, command: string[], env: Readonly<Record<string, string>> = {}): string {
  const child = Bun.spawnSync(command, { cwd, env: { ...process.env, ...env } });
  const output = child.stdout.toString();
  if (child.exitCode === 0) return output;
  throw new Error(`${command.join(' ')}: ${output}${child.stderr.toString()}`);
}

test('the package has no dependencies', async () => {
  const manifest = await Bun.file(join(installed, 'package.json')).json();
  expect(Object.keys(manifest).toSorted()).toEqual(
    ['description', 'engines', 'exports', 'license', 'name', 'type', 'version'].toSorted(),
  );
});

for (const [runtime, program] of [
  ['plain Node', 'node'],
  ['Bun', process.execPath],
] as const) {
  test(`${runtime} takes a payment with the package`, () => {
    const answer = run(project, [program, 'pay.js'], {
      SIDECAR_URL: world.baseUrl,
      SIDECAR_CREDENTIALS: world.bob,
    });
    expect(JSON.parse(answer)).toEqual({
      sameIndex: true,
      status: 'completed',
      sameAgain: true,
      refused: true,
    });
  });
}

test('its types allow only calls that the API accepts, and use no types of a runtime', () => {
  writeFileSync(
    join(project, 'typed.ts'),
    `import { verifyWebhook, WalletSidecar, type Payment, type Sats } from 'wallet-sidecar';
     const client = new WalletSidecar();
     const amount: Sats = '0.5';
     export const paid: Promise<Payment> = client.pay({ payable: 'x', amount }, { respondAfterSecs: 0 });
     export const finalized: Promise<Payment> = verifyWebhook('', new Headers(), '');
     // @ts-expect-error a payment needs something to pay
     client.pay({ amount });
     // @ts-expect-error an invoice is not paid later
     client.createInvoice({}, { respondAfterSecs: 0 });
     // @ts-expect-error a filter is required
     client.listPayments({});
     // @ts-expect-error there is no such scope
     client.createClient({ scopes: ['everything'] });
     // @ts-expect-error amounts of answers are text: numbers would lose millisatoshis
     export const fees: Promise<number> = client.pay({ payable: 'x' }).then((payment) => payment.fees);`,
  );
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const flags = '--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2022';
  const lib = ['--lib', 'es2022,dom,dom.iterable', '--types', ''];
  expect(run(project, [tsc, ...flags.split(' '), ...lib, 'typed.ts'])).toBe('');
});
