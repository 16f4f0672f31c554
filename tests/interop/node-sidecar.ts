import { request } from '../conformance/request.ts';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import type { DevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import {
  type Answer,
  type Body,
  type CallOptions,
  type SucceedingCalls,
  succeedingCalls,
} from '../support/requests.ts';
import { waitUntil } from '../support/until.ts';

/** The compiled binary in front of a real node. */
export interface NodeSidecar extends SucceedingCalls {
  readonly baseUrl: string;
  readonly dataDir: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  isRunning(): boolean;
  /** Everything that it has logged since its first start. */
  log(): string;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Ends it with SIGTERM and returns the exit code. */
  stop(): Promise<number>;
  /** Starts it again on the same data directory and port. */
  start(): Promise<void>;
  /** The process as the conformance tests treat it. */
  process(): DevSidecar;
  /** Stops it and removes its data directory. */
  close(): Promise<void>;
}

/** Starts the sidecar with these flags and waits until it answers. */
export async function startNodeSidecar(
  flags: readonly string[],
  dataDir = temporaryFolder('node-sidecar'),
  env: Readonly<Record<string, string>> = {},
): Promise<NodeSidecar> {
  const port = freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const { plain, secrets } = withoutSecrets(flags);
  let log = '';
  let child: SidecarProcess | null = null;
  const call: NodeSidecar['call'] = (method, path, options = {}) =>
    request(baseUrl, method, path, options);
  const start = async (): Promise<void> => {
    const address = `127.0.0.1:${port}`;
    child = startBinary(
      [
        ...['serve', '--data-dir', dataDir, '--listen-addr', address, '--log-level', 'debug'],
        ...plain,
      ],
      {
        env: { ...process.env, ...secrets, ...env },
        onOutput: (text) => {
          log += text;
        },
      },
    );
    await child.answers(baseUrl);
  };
  const kill = async () => child?.kill();
  const stop = async () => (await child?.stop()) ?? 0;
  await start();
  return {
    baseUrl,
    dataDir,
    call,
    ...succeedingCalls(call),
    isRunning: () => child?.running() ?? false,
    log: () => log,
    kill,
    stop,
    start,
    process: () => ({
      baseUrl,
      pid: child?.pid ?? 0,
      call: async (method, path, options = {}) =>
        (await call(method, path, options as CallOptions)).body,
      kill,
      stop,
      log: () => log,
    }),
    async close() {
      await stop();
      removeFolder(dataDir);
    },
  };
}

/** A payment of the sidecar, once it has ended. */
export function paymentEnd(
  sidecar: SucceedingCalls,
  index: string,
  patienceMs?: number,
): Promise<Body> {
  return waitUntil(
    'the payment has ended',
    async () => {
      const payment = await sidecar.get('/v2/node/payment', { index });
      return payment.status !== 'pending' && payment;
    },
    patienceMs,
  );
}

const SECRET_FLAGS: Readonly<Record<string, string>> = {
  '--client-credentials': 'SERVICE_CLIENT_CREDENTIALS',
  '--webhook-secret': 'SERVICE_WEBHOOK_SECRET',
  '--root-seed': 'SERVICE_ROOT_SEED',
  '--database-url': 'SERVICE_DATABASE_URL',
  '--secrets-key': 'SERVICE_SECRETS_KEY',
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
