import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { GUIDES, PAGES, pageText, ROOT } from '../support/pages.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isRunnable, NOT_RUN, type Section, scriptOf, sectionsOf } from './commands.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Guides are run terminal by terminal, in guides.test.ts. */
const pages = PAGES.filter((page) => !GUIDES.includes(page));
const sections = pages.flatMap((page) => sectionsOf(page, pageText(page)));
const commands = sections.flatMap((section) => section.commands);
/** A folder like a fresh checkout after `npm install` and `npm run build`. */
const checkout = temporaryFolder('readme');

beforeAll(() => {
  for (const name of ['dist', 'examples']) symlinkSync(join(ROOT, name), join(checkout, name));
});
afterAll(() => removeFolder(checkout));

test('every shell command of the documentation is run here, or is declared with the reason why not', () => {
  const unknown = commands.filter((command) => !(command in NOT_RUN) && !isRunnable(command));
  expect(unknown).toEqual([]);
  expect(commands.filter(isRunnable).length).toBeGreaterThan(5);
});

test('a command of another program, in whatever block, is neither', () => {
  const text =
    '# X\n\n```sh\ncurl a \\\n  b\n# why\n```\n\n## Y\n\n```bash\nsudo rm -rf /\n```\n\n```js\nnew X()\n```\n';
  const found = sectionsOf('x.md', text);
  expect(found.map(({ title, commands: [command] }) => [title, command])).toEqual([
    ['the beginning', 'curl a    b'],
    ['Y', 'sudo rm -rf /'],
  ]);
  expect(found.map(({ commands }) => commands.map(isRunnable))).toEqual([[true], [false]]);
});

test('what is declared as not run still stands in the documentation', () => {
  expect(Object.keys(NOT_RUN).filter((command) => !commands.includes(command))).toEqual([]);
});

test('a signing secret is drawn by the program, where the receiver can read it too', () => {
  const lines = PAGES.flatMap((page) => pageText(page).split('\n'));
  const lost = lines.filter(
    (line) =>
      /openssl rand|\/dev\/u?random/.test(line) ||
      /SERVICE_WEBHOOK_SECRET=\S*\$\([^)]*webhooks secret|--webhook-secret "?\$\(/.test(line),
  );
  expect(lost).toEqual([]);
  expect(lines.filter((line) => /webhooks secret > \w/.test(line)).length).toBeGreaterThan(2);
});

test('the README says how to start and how to test in these very words, on one page', () => {
  const readme = sections.filter(({ file }) => file === 'README.md');
  const said = readme.flatMap((section) => section.commands);
  expect(said).toContain('npm install && npm start');
  expect(said).toContain('npm test');
  expect(pageText('README.md').split('\n').length).toBeLessThan(130);
});

test('every script of npm that the documentation names exists', () => {
  const named = PAGES.flatMap((page) =>
    [...pageText(page).matchAll(/npm run ([\w:]+)/g)].map(([, it]) => it),
  );
  expect(named.filter((name) => name !== undefined && !(name in packageJson.scripts))).toEqual([]);
  expect(named).toContain('check');
});

describe('the commands work as they are written', () => {
  for (const section of sections.filter((one) => one.commands.some(isRunnable))) {
    test(`${section.file}: ${section.title}`, async () => {
      const { exitCode, answers, errors } = await run(section);
      const refused = answers.filter(({ output }) => /^\{"code":\d+,"msg":/m.test(output));
      const failed = exitCode === 0 ? [] : [answers.at(-1), errors];
      expect({ refused, failed, exitCode }).toEqual({ refused: [], failed: [], exitCode: 0 });
    });
  }
});

/** Runs the section's commands in the checkout, with a sidecar on a port of its own. */
async function run(section: Section) {
  const address = `127.0.0.1:${freePort()}`;
  const hookPort = String(freePort());
  const script = scriptOf(section.commands, [
    ['127.0.0.1:5393', address],
    ['127.0.0.1:8080', `127.0.0.1:${hookPort}`],
    ['127.0.0.1:9740', `127.0.0.1:${freePort()}`],
    ['/path/to/wallet-sidecar', ROOT],
    ['npx bun ', `${process.execPath} `],
    ['npm start --', './dist/wallet-sidecar dev'],
  ]);
  const child = Bun.spawn(['bash', '-c', script], {
    cwd: checkout,
    env: {
      ...process.env,
      HOME: checkout,
      WEBHOOK_PORT: hookPort,
      SERVICE_LISTEN_ADDR: address,
      SERVICE_DATA_DIR: join(checkout, 'data'),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const answers = output
    .split(/^@@@ /m)
    .slice(1)
    .map((text) => {
      const [command = '', ...lines] = text.split('\n');
      return { command, output: lines.join('\n').trim() };
    });
  return { exitCode: await child.exited, answers, errors };
}
