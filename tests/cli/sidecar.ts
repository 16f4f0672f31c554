import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary as runSidecar, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { sendOk } from '../support/requests.ts';

/** The result of a command. */
export interface Ran {
  readonly exitCode: number;
  /** Without the line feed at the end. */
  readonly stdout: string;
  readonly stderr: string;
}

/** JSON whose members the tests check one by one. */
export type Json = ReturnType<JSON['parse']>;

/** A sandbox sidecar on a data directory of its own, and functions that run commands against it. */
export interface CliWorld {
  readonly baseUrl: string;
  /** Where the commands find its address and its owner's cookie. */
  readonly dataDir: string;
  /** Credentials of a second, funded wallet. */
  readonly bob: string;
  /** Runs a command as the default wallet. */
  run(...args: readonly string[]): Promise<Ran>;
  /** Runs a command with `--json`, which must end with exit code 0. Resolves to the JSON that it printed. */
  json(...args: readonly string[]): Promise<Json>;
  /** Calls the API, as the owner unless credentials are given. Resolves to the body; throws for an error. */
  api(method: string, path: string, body?: unknown, credentials?: string): Promise<Json>;
  /** Resolves to the exact text of the body of a GET. */
  text(path: string): Promise<string>;
  close(): Promise<void>;
}

/** Runs the compiled binary in the given environment only. */
export async function runBinary(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin = '',
  cwd = '/',
): Promise<Ran> {
  const { exitCode, stdout, stderr } = await runSidecar(args, { env, stdin, cwd });
  return { exitCode, stdout: stdout.replace(/\n$/, ''), stderr: stderr.replace(/\n$/, '') };
}

/** Starts `dev` on a port that the system chooses. The binary must have been built, as `npm test` does. */
export async function openCliWorld(flags: readonly string[] = []): Promise<CliWorld> {
  const folder = temporaryFolder('cli-world');
  const dataDir = join(folder, 'data');
  const child = startBinary(
    ['dev', '--data-dir', dataDir, '--listen-addr', '127.0.0.1:0', ...flags],
    { env: { SERVICE_SANDBOX_BLOCK_SECS: '0' } },
  );
  const baseUrl = await child.ready();
  const env = { SERVICE_DATA_DIR: dataDir };
  const owner = readFileSync(join(dataDir, 'cookie'), 'utf8').trim();
  const api: CliWorld['api'] = (method, path, body, credentials = owner) =>
    sendOk(baseUrl, method, path, { body, credentials });
  const { client_credentials } = await api('POST', '/sandbox/wallets', {});
  return {
    baseUrl,
    dataDir,
    bob: client_credentials,
    api,
    run: (...args) => runBinary(args, env),
    async json(...args) {
      const ran = await runBinary([...args, '--json'], env);
      if (ran.exitCode !== 0) throw new Error(`${args.join(' ')}: ${ran.stderr}`);
      return JSON.parse(ran.stdout);
    },
    text: async (path) => (await fetch(`${baseUrl}${path}`)).text(),
    async close() {
      await child.stop();
      removeFolder(folder);
    },
  };
}
