/** The shell commands of one section of a Markdown file. */
export interface Section {
  readonly file: string;
  readonly title: string;
  /** One entry for each command, with continuation lines joined and without comments. */
  readonly commands: readonly string[];
}

/** The reasons why some commands of the documentation are not run by this test, by the command's text. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'npm install && npm start':
    'CI installs; `npm start` is the build and `dev`, which the tests start',
  'wallet-sidecar connect lnd --url https://127.0.0.1:8080 --cert-path ~/.lnd/tls.cert --macaroon-path ~/.lnd/data/chain/bitcoin/mainnet/admin.macaroon > lnd.credentials':
    'needs an LND of the reader; the interop tests run it against one of their own',
  'chmod 600 lnd.credentials': 'the file comes from the command before',
  'wallet-sidecar serve --client-credentials-path lnd.credentials':
    'needs the same LND; the interop tests start it so',
  'lncli bakemacaroon --save_to wallet-sidecar.macaroon info:read address:write invoices:read invoices:write onchain:read onchain:write offchain:read offchain:write peers:write macaroon:generate macaroon:read macaroon:write message:write':
    'needs an LND of the reader',
  'wallet-sidecar connect lnd --node-proxy 127.0.0.1:9050 --url https://youraddress.onion:8080 --cert-path tls.cert --macaroon-path admin.macaroon > lnd.credentials':
    'needs Tor; tests/hostile/proxy.test.ts runs it through a proxy of its own',
  'wallet-sidecar serve --node-proxy 127.0.0.1:9050 --client-credentials-path lnd.credentials':
    'needs Tor; tests/hostile/proxy.test.ts starts it so',
  'wallet-sidecar connect cln --url https://127.0.0.1:3010 --cert-path ~/.lightning/bitcoin/ca.pem --rune-path wallet-sidecar.rune > cln.credentials':
    'needs a Core Lightning of the reader; the interop tests run it against one of their own',
  'chmod 600 cln.credentials wallet-sidecar.rune': 'the files come from the commands before',
  'wallet-sidecar serve --client-credentials-path cln.credentials':
    'needs the same Core Lightning; the interop tests start it so',
  'lightning-cli createrune -k restrictions=\'[["method=blacklistrune","method=close","method=connect","method=createproof","method=createrune","method=delinvoice","method=feerates","method=fetchinvoice","method=fundchannel","method=getinfo","method=getroutes","method=getutxout","method=invoice","method=listchainmoves","method=listclosedchannels","method=listfunds","method=listinvoices","method=listpeerchannels","method=listsendpays","method=listtransactions","method=newaddr","method=offer","method=reserveinputs","method=sendpsbt","method=showrunes","method=signmessage","method=signpsbt","method=txprepare","method=unreserveinputs","method=utxopsbt","method=wait","method=xpay"]]\' > wallet-sidecar.rune':
    'needs a Core Lightning of the reader',
  '(umask 077; wallet-sidecar seed new > seed)':
    'the program is not on the path; docs/credentials.md has the command as it is run',
  'wallet-sidecar serve --node ldk --network signet --esplora-url https://mempool.space/signet/api --root-seed-path seed':
    'needs the internet; tests/nodes/ldk/binary.test.ts starts it so on a chain of its own',
  'wallet-sidecar serve --node ldk --network signet --esplora-url https://mempool.space/signet/api --root-seed-path seed --lsp PUBKEY@HOST:9735 --max-lsp-fee 5000':
    'needs the internet and an LSP; tests/nodes/ldk/first-payment.test.ts has one',
  'wallet-sidecar ldk recover --network signet --electrum-url tcp://127.0.0.1:60601 --root-seed-path seed --data-dir new --peer PUBKEY@HOST:9735':
    'needs a signet and a peer; tests/interop/ldk-recovery.test.ts runs it on real nodes',
  'pip install /path/to/wallet-sidecar/clients/python':
    'fetches its build tool from a registry; tests/client runs the package where it stands',
  './dist/wallet-sidecar listen --forward-to http://127.0.0.1:3000/hook':
    'runs until Ctrl-C; tests/cli/commands/webhook-endpoints.test.ts runs it',
  'sudo sh install.sh': 'changes the machine; tests/packaging/install.test.ts runs the script',
  "sudo sh -c 'umask 077; mkdir -p /etc/wallet-sidecar; wallet-sidecar connect lnd --url https://127.0.0.1:8080 --cert-path /home/lnd/.lnd/tls.cert --macaroon-path /home/lnd/.lnd/data/chain/bitcoin/mainnet/admin.macaroon > /etc/wallet-sidecar/client-credentials'":
    'needs an LND and root; the interop tests run `connect lnd` against one of their own',
  "sudo sh -c 'umask 077; mkdir -p /etc/wallet-sidecar; wallet-sidecar connect cln --url https://127.0.0.1:3010 --cert-path /home/lightning/.lightning/bitcoin/ca.pem --rune-path /home/lightning/wallet-sidecar.rune > /etc/wallet-sidecar/client-credentials'":
    'needs a Core Lightning and root; the interop tests run `connect cln` against one of their own',
  'sudo systemctl enable --now wallet-sidecar':
    'needs systemd and root; tests/packaging/unit.test.ts runs what the unit starts',
  'sudo wallet-sidecar info --data-dir /var/lib/wallet-sidecar':
    'needs the service of the line before',
  'createuser --pwprompt sidecar': 'needs a PostgreSQL of the reader',
  'createdb --owner=sidecar wallets': 'needs a PostgreSQL of the reader',
  '(umask 077; wallet-sidecar secrets-key > secrets-key)':
    'the program is not on the path; tests/cli/commands/secrets-key.test.ts runs it',
  'wallet-sidecar serve --database-url-path database-url --secrets-key-path secrets-key    --client-credentials-path client-credentials':
    'needs PostgreSQL and a node; tests/faults/postgres.test.ts starts it so',
  'wallet-sidecar serve --listen-addr 10.0.0.2:5393 --peer-url http://10.0.0.2:5393 --require-auth    --database-url-path database-url --secrets-key-path secrets-key --client-credentials-path client-credentials':
    'needs PostgreSQL, a node and a network; tests/faults/fleet.test.ts starts several so',
  'wallet-sidecar migrate sqlite-to-postgres    --database-url-path database-url --secrets-key-path secrets-key':
    'needs PostgreSQL; tests/store/copy.test.ts runs it',
  'curl -s http://127.0.0.1:5393/v2/node/fetch -H "content-type: application/json" -H "idempotency-key: report-of-today"    -d \'{"url": "https://api.example/report", "max_cost": "100"}\'':
    'needs a service that sells; tests/conformance/fetch.test.ts has some of its own',
  'npm run build': 'the tests run on what it has built',
  'npm test': 'CI runs it, and this test is part of it',
};

/** The programs with which a command may begin. Other commands are not run, because they have not been checked. */
const RUNNABLE =
  /^(?:\(umask 077; )?(?:\.\/dist\/)?wallet-sidecar |^(?:curl|export|npx bun|npm start --) |^npm install \/path\/to\/|^(?:bash|python3) examples\//;
const STARTS_SERVER = /^\.\/dist\/wallet-sidecar (?:serve|dev)\b/;

/**
 * Returns the shell commands of a Markdown text, by its second-level headings. Sections without commands are left out.
 */
export function sectionsOf(file: string, markdown: string): Section[] {
  return markdown
    .split(/^## /m)
    .map((text, i) => {
      const blocks = [...text.matchAll(/^```(?:sh|bash|shell|console)\n([\s\S]*?)^```$/gm)];
      return {
        file,
        title: i === 0 ? 'the beginning' : (text.split('\n')[0] ?? ''),
        commands: blocks.flatMap(([, block = '']) => commandsOf(block)),
      };
    })
    .filter(({ commands }) => commands.length > 0);
}

function commandsOf(block: string): string[] {
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Whether the test may run a command. */
export function isRunnable(command: string): boolean {
  return !(command in NOT_RUN) && RUNNABLE.test(command);
}

/** The values that replace the placeholders of the documentation, in the order of replacement. */
export type Replacements = readonly (readonly [string, string])[];

/**
 * Returns a bash script that runs the commands in turn. It prints a line `@@@ <command>` before each, and stops at the
 * first that fails. A command that starts a server replaces the running sidecar, and writes its process id to the file
 * `pid`. A section without such a command uses the trial sidecar.
 */
export function scriptOf(commands: readonly string[], replacements: Replacements): string {
  const run = commands
    .filter(isRunnable)
    .map((command) =>
      replacements.reduce((text, [from, to]) => text.replaceAll(from, to), command),
    );
  const lines = run.some((command) => STARTS_SERVER.test(command))
    ? run
    : ['./dist/wallet-sidecar dev', ...run];
  return [
    'set -euo pipefail',
    `stop() { if [ -e pid ]; then kill "$(cat pid)"; wait "$(cat pid)"; rm pid; fi; }`,
    'trap stop EXIT',
    ...lines.flatMap((line) => [
      `echo ${quote(`@@@ ${line}`)}`,
      ...(STARTS_SERVER.test(line) ? started(line) : [line, 'echo']),
    ]),
  ].join('\n');
}

function started(line: string): string[] {
  const ready = line.includes('wallet-sidecar dev') ? 'Paste these lines' : 'is ready';
  return [
    'stop',
    ': >log',
    `${line} >>log 2>&1 & echo $! >pid`,
    `until grep -q ${quote(ready)} log; do kill -0 "$(cat pid)" || { cat log; exit 1; }; sleep 0.025; done`,
    `grep ${quote(ready)} log`,
  ];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
