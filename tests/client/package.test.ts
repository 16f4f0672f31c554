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

test('the package has no dependencies, and says what it is and where it comes from', async () => {
  const manifest = await Bun.file(join(installed, 'package.json')).json();
  const told = ['description', 'homepage', 'keywords', 'license', 'name', 'repository', 'version'];
  const read = ['engines', 'exports', 'type'];
  expect(Object.keys(manifest).toSorted()).toEqual([...told, ...read].toSorted());
  expect(manifest.keywords).toContain('lightning');
  expect(manifest.repository.url).toMatch(/^git\+https:/);
  const readme = await Bun.file(join(installed, 'README.md')).text();
  // Outside the repository, links to its other pages would lead nowhere.
  expect(readme).not.toContain('](');
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

/** Returns what the compiler says of a module of the project, which knows no types of a runtime. */
function compiled(source: string): string {
  writeFileSync(join(project, 'typed.ts'), source);
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const flags = '--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2022';
  const lib = ['--lib', 'es2022,dom,dom.iterable', '--types', ''];
  return run(project, [tsc, ...flags.split(' '), ...lib, 'typed.ts']);
}

test('its types allow only calls that the API accepts, and use no types of a runtime', () => {
  const said = compiled(
    `import { verifyWebhook, WalletSidecar, type ClientBudgetLow, type Payment, type Sats } from 'wallet-sidecar';
     const client = new WalletSidecar();
     const amount: Sats = '0.5';
     export const paid: Promise<Payment> = client.pay({ payable: 'x', amount }, { respondAfterSecs: 0 });
     export const told: Promise<Payment | ClientBudgetLow> = verifyWebhook('', new Headers(), '');
     // @ts-expect-error a payment needs something to pay
     client.pay({ amount });
     // @ts-expect-error an invoice is not paid later
     client.createInvoice({}, { respondAfterSecs: 0 });
     // @ts-expect-error a filter is required
     client.listPayments({});
     // @ts-expect-error there is no such scope
     client.createClient({ scopes: ['everything'] });`,
  );
  expect(said).toBe('');
});

test('amounts of answers cannot be added as text, and go into requests as they are', () => {
  const said = compiled(
    `import { fromMsat, toMsat, WalletSidecar, type Amount, type Payment } from 'wallet-sidecar';
     const client = new WalletSidecar();
     export function calculate({ amount, fees }: Payment) {
       // @ts-expect-error the text '10' and the text '5' are '105' together
       const sum = fees + fees;
       // @ts-expect-error a number and text are text
       const more = 1 + fees;
       // @ts-expect-error null is not an amount
       toMsat(amount);
       // @ts-expect-error numbers would lose millisatoshis
       const number: number = fees;
       // @ts-expect-error what is text could be added
       const text: string = fees;
       // @ts-expect-error other text is not an amount of the sidecar
       const made: Amount = '5';
       const total: Amount = fromMsat(toMsat(fees) + toMsat('0.5') + toMsat(2));
       return { sum, more, number, text, made, total, shown: \`\${fees} sats\` };
     }
     export const again = (fees: Amount) => client.createInvoice({ amount: fees });`,
  );
  expect(said).toBe('');
});

test('the code of an error says what its data holds', () => {
  const said = compiled(
    `import { ERROR_CODES, WalletSidecarError, type Amount } from 'wallet-sidecar';
     export function told(error: unknown) {
       if (!(error instanceof WalletSidecarError)) return null;
       const { kind, message, mayHaveTakenEffect, cause } = error;
       const common: object = { kind, message, mayHaveTakenEffect, cause };
       // @ts-expect-error without the code nobody knows
       error.data?.remaining;
       switch (error.code) {
         case ERROR_CODES.overBudget: {
           const remaining: Amount | undefined = error.data?.remaining;
           return remaining;
         }
         case ERROR_CODES.rejected:
           return error.data?.issues?.map(({ path }): string => path);
         case ERROR_CODES.forbidden: {
           // @ts-expect-error only error 109 has it
           error.data?.remaining;
           const permission: string | undefined = error.data?.permission;
           return permission;
         }
         case null: {
           const data: null = error.data;
           // @ts-expect-error an error of the sidecar has a code
           error.kind === 'error';
           return data;
         }
         default: {
           const sent: 'no' | 'unknown' | 'yes' | undefined = error.data?.sent;
           return [sent, common];
         }
       }
     }`,
  );
  expect(said).toBe('');
});
