import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('connect');
afterAll(() => removeFolder(folder));

const LND_FLAGS = '--url, --cert-path, --macaroon-path';
const CLN_FLAGS = '--url, --cert-path, --rune-path';
/** Has the form of a rune, and leads to no file. */
const TOKEN = 'FRiHxnaSnOEUk7o0MVRwXLTUHcTOPF0EkHMd_b0G10w9MA==';
const URL = ['--url', 'https://127.0.0.1:1'];
const NOT_THE_TOKEN =
  'A flag that ends in -path takes the path of a file, not the token itself: write it to a file, or give - and the token on stdin.';

const WRONG: readonly (readonly [what: string, args: readonly string[], message: string])[] = [
  [
    "a rune's flag for an LND",
    ['lnd', ...URL, '--rune-path', 'rune'],
    `--rune-path belongs to \`connect cln\`: use that, or give ${LND_FLAGS} of LND.`,
  ],
  [
    "a macaroon's flag for a Core Lightning",
    ['cln', ...URL, '--macaroon-path', 'admin.macaroon'],
    `--macaroon-path belongs to \`connect lnd\`: use that, or give ${CLN_FLAGS} of Core Lightning.`,
  ],
  [
    'a URI for a Core Lightning',
    ['cln', 'lndconnect://127.0.0.1:8080?macaroon=AgED'],
    `\`connect cln\` takes flags alone: give ${CLN_FLAGS}.`,
  ],
  [
    'two URIs',
    ['lnd', 'lndconnect://a', 'lndconnect://b'],
    `\`connect lnd\` takes one URI or flags: give ${LND_FLAGS}, or the URI between single quotes.`,
  ],
  [
    'a file that is not there',
    ['lnd', ...URL, '--macaroon-path', 'nowhere/admin.macaroon'],
    'nowhere/admin.macaroon is not there: check the path.',
  ],
  ['a folder', ['cln', ...URL, '--rune-path', folder], `${folder} is a folder: give a file in it.`],
  ['a rune in place of its file', ['cln', ...URL, '--rune-path', TOKEN], NOT_THE_TOKEN],
  [
    'a macaroon in place of its file',
    ['lnd', ...URL, '--macaroon-path', '0201036c6e64'.repeat(60)],
    NOT_THE_TOKEN,
  ],
];

test.each(WRONG)('connect with %s says what to do, and nothing more', async (_, args, message) => {
  expect(await runBinary(['connect', ...args])).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
});

test('a token in place of its file is not shown', async () => {
  const { stderr } = await runBinary(['connect', 'cln', ...URL, '--rune-path', TOKEN]);
  expect(stderr).not.toContain(TOKEN.slice(0, 20));
});

test('the help of a kind shows its own flags alone', async () => {
  expect((await runBinary(['connect', 'lnd', '--help'])).stdout).not.toContain('rune');
  expect((await runBinary(['connect', 'cln', '--help'])).stdout).not.toContain('macaroon');
});
