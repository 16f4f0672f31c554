import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Answer,
  type CallOptions,
  request,
  type SucceedingCalls,
  succeedingCalls,
} from '../conformance/request.ts';
import { type FaultSidecar, freePort } from '../faults/sidecar.ts';
import type { LndNode } from './harness/index.ts';

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');

/** The compiled binary in front of a real LND. */
export interface LndSidecar extends SucceedingCalls {
  readonly baseUrl: string;
  readonly dataDir: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Everything that it has logged since its first start. */
  log(): string;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Ends it with SIGTERM and returns the exit code. */
  stop(): Promise<number>;
  /** Starts it again on the same data directory and port. */
  start(): Promise<void>;
  /** The process in the form that the conformance tests use. */
  process(): FaultSidecar;
  /** Stops it and removes its data directory. */
  close(): Promise<void>;
}

/** Runs `connect lnd` for a node of the harness and returns its output. */
export function connectLnd(node: LndNode, macaroonPath = node.macaroonPath): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([
    BINARY,
    'connect',
    'lnd',
    '--url',
    node.restUrl,
    '--cert-path',
    node.tlsCertPath,
    '--macaroon-path',
    macaroonPath,
  ]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString().trim();
}

/** Starts the sidecar with these flags and waits until it answers. */
export async function startLndSidecar(flags: readonly string[]): Promise<LndSidecar> {
  const dataDir = mkdtempSync(join(tmpdir(), 'wallet-sidecar-lnd-'));
  const port = freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const { plain, secrets } = withoutSecrets(flags);
  let log = '';
  let child: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | null = null;
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) log += new TextDecoder().decode(chunk);
  };
  const call: LndSidecar['call'] = (method, path, options = {}) =>
    request(baseUrl, method, path, options);
  const start = async (): Promise<void> => {
    child = Bun.spawn(
      [
        BINARY,
        'serve',
        '--data-dir',
        dataDir,
        '--listen-addr',
        `127.0.0.1:${port}`,
        '--log-level',
        'debug',
        ...plain,
      ],
      { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: { ...process.env, ...secrets } },
    );
    void collect(child.stdout);
    void collect(child.stderr);
    for (let round = 0; round < 400 && child.exitCode === null; round++) {
      const answer = await fetch(`${baseUrl}/v2/health`).catch(() => null);
      if (answer?.ok) return;
      await Bun.sleep(25);
    }
    throw new Error(`the sidecar did not start: ${log}`);
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number> => {
    child?.kill(signal);
    return (await child?.exited) ?? 0;
  };
  await start();
  return {
    baseUrl,
    dataDir,
    call,
    ...succeedingCalls(call),
    log: () => log,
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    start,
    process: () => ({
      baseUrl,
      pid: child?.pid ?? 0,
      call: async (method, path, options = {}) =>
        (await call(method, path, options as CallOptions)).body,
      kill: async () => void (await end('SIGKILL')),
      stop: () => end('SIGTERM'),
      log: () => log,
    }),
    async close() {
      await end('SIGTERM');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const SECRET_FLAGS: Readonly<Record<string, string>> = {
  '--client-credentials': 'SERVICE_CLIENT_CREDENTIALS',
  '--webhook-secret': 'SERVICE_WEBHOOK_SECRET',
  '--root-seed': 'SERVICE_ROOT_SEED',
};

/** Moves secrets from flags to environment variables, because a secret in a flag causes a warning in health. */
function withoutSecrets(flags: readonly string[]) {
  const plain: string[] = [];
  const secrets: Record<string, string> = {};
  const rest = [...flags];
  for (let flag = rest.shift(); flag !== undefined; flag = rest.shift()) {
    const variable = SECRET_FLAGS[flag];
    if (variable === undefined) plain.push(flag);
    else secrets[variable] = rest.shift() ?? '';
  }
  return { plain, secrets };
}
