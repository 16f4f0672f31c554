import { join } from 'node:path';
import { runProgram } from '../src/cli/program.ts';
import { exampleProof, exampleUpdatedIndex } from '../src/http/examples.ts';
import { CALLS, exampleSidecar, nameOf, routes } from './cli-calls.ts';
import { documentedProgram, SILENT } from './documented-program.ts';

const HEAD = `# What --json prints

One example for each command of the [command line](cli.md), made from the examples of the [API](api.md). Most commands print the answer of the API as it is, in one line. \`wait --next\`, \`events\`, \`export\` and \`listen\` print a line for each payment or attempt. Where the API answers with an error, that is printed, such as \`{"code":107,"msg":"Payment not found"}\`, with exit code 1; a payment that failed is printed as a payment, with exit code 1 too. A command that fails without an answer of the API prints nothing on stdout: no sidecar answers, a name fits nothing or several, or the usage is wrong. The words for people are on stderr each time.
`;

const HEX = '5a'.repeat(32);
/** Commands that call no endpoint of their own, as they are typed. */
const OTHERS: readonly (readonly string[])[] = [['proof', 'verify', exampleProof]];

const exampleOf = (name: string) =>
  routes.find((route) => nameOf(route) === name)?.example.response as Record<string, unknown>;
const node = { version: '0.21.2-beta', node_pk: `02${HEX}`, network: 'mainnet' };
const connected = { client_credentials: 'eyJub2RlX...', ...node, permissions: ['node_info'] };

/** What commands print that draw secrets, run on, or need what is not here. */
const PRINTED: Readonly<Record<string, object>> = {
  dev: {
    url: 'http://127.0.0.1:5393',
    credentials: HEX,
    reference: 'http://127.0.0.1:5393/docs',
    data_dir: '/home/me/trial',
  },
  'seed new': { root_seed: HEX, phrase: 'fossil lunch beyond…' },
  'secrets-key': { secrets_key: HEX },
  'webhooks secret': { webhook_secret: 'whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=' },
  'name dns-record': {
    name: 'satoshi.user._bitcoin-payment.example.com',
    type: 'TXT',
    text: 'bitcoin:?lno=lno1…',
  },
  'webhooks verify body.json': { valid: true },
  'completions bash': { shell: 'bash', script: '…' },
  events: { updated_index: exampleUpdatedIndex, payment: exampleOf('get /v2/node/payment') },
  listen: {
    signing_secret: 'whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=',
    endpoint: 'ep_2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a',
  },
  'trigger payment.finalized': exampleOf('post /v2/node/create_invoice'),
  'connect lnd lndconnect://…': connected,
  'connect cln https://127.0.0.1:3010': { ...connected, version: 'v26.06' },
  'backup copy': { done: 'Copied to /home/me/copy: sidecar.sqlite. …' },
  'restore copy': { done: '/home/me/data holds the backup of 2026-11-23T10:00:00.000Z. …' },
  'migrate sqlite-to-postgres': { done: '512 rows were copied. …' },
  'ldk recover': { done: 'Connected to 02…. …' },
};

/** Returns `docs/cli-json.md`. */
export async function cliJsonPage(): Promise<string> {
  const server = exampleSidecar(() => undefined);
  try {
    const url = `http://127.0.0.1:${server.port}`;
    const called = Object.values(CALLS).filter(([name]) => name !== 'events');
    const shown = await Promise.all(
      [...called, ...OTHERS].map(async (words) => [
        words.map(shortened).join(' '),
        await printed(words, url),
      ]),
    );
    const drawn = Object.entries(PRINTED).map(([words, value]) => [words, JSON.stringify(value)]);
    const parts = [...shown, ...drawn]
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
      .map(([words, json]) => `### \`${words}\`\n\n\`\`\`json\n${json}\n\`\`\`\n`);
    return [HEAD, ...parts].join('\n');
  } finally {
    await server.stop(true);
  }
}

/** Returns a word of a command, without what nobody types. */
function shortened(word: string): string {
  if (word.length < 40) return word;
  if (word.includes('-')) return 'INDEX';
  return word.startsWith('lnp1') ? 'lnp1…' : 'HEX';
}

/** Runs a command with --json in this process. Resolves to what it prints. */
async function printed(words: readonly string[], url: string): Promise<string> {
  const lines: string[] = [];
  const said: string[] = [];
  const io = {
    ...SILENT,
    env: { SERVICE_SIDECAR_URL: url },
    stdout: (line: string) => lines.push(line) > 0,
    stderr: (line: string) => void said.push(line),
  };
  const program = await documentedProgram('0', io);
  const exitCode = await runProgram(program, ['bun', 'wallet-sidecar', ...words, '--json'], io);
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${said.join('\n')}`);
  return lines.join('\n').replaceAll(url, 'http://127.0.0.1:5393');
}

if (import.meta.main) {
  await Bun.write(join(import.meta.dir, '..', 'docs', 'cli-json.md'), await cliJsonPage());
}
