import { startBinary } from './binary.ts';
import { type CallOptions, sendOk } from './requests.ts';

/** A sidecar process that a test may treat badly. */
export interface DevSidecar {
  readonly baseUrl: string;
  readonly pid: number;
  /** Calls it; throws on a refused connection and on answers other than 2xx. */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM. Resolves to the exit code. */
  stop(): Promise<number>;
  /** What it wrote so far. */
  log(): string;
}

/** Starts the compiled binary with a trial wallet on the sandbox node and waits until it answers. */
export async function startDevSidecar(options: {
  readonly dataDir: string;
  readonly port: number;
  readonly webhookUrl?: string;
  /** How many files and sockets it may have open; as this process unless given. */
  readonly openFiles?: number;
  /** Settings besides, as the environment gives them. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<DevSidecar> {
  const baseUrl = `http://127.0.0.1:${options.port}`;
  const flags = options.webhookUrl === undefined ? [] : ['--webhook-url', options.webhookUrl];
  const address = `127.0.0.1:${options.port}`;
  const child = startBinary(
    ['dev', '--data-dir', options.dataDir, '--listen-addr', address, ...flags],
    {
      env: { ...process.env, SERVICE_SANDBOX_BLOCK_SECS: '0', ...options.env },
      before:
        options.openFiles === undefined
          ? []
          : ['sh', '-c', `ulimit -n ${options.openFiles}; exec "$@"`, 'sh'],
    },
  );
  // Other complaints than that the trial wallet has no funds yet may be what a test is about.
  await child.answers(baseUrl, (status) => !status.includes('signed up and funded'));
  return {
    baseUrl,
    pid: child.pid,
    log: child.log,
    call: (method, path, call) => sendOk(baseUrl, method, path, call),
    kill: child.kill,
    stop: child.stop,
  };
}
