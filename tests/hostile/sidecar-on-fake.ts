import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LndSidecar, startLndSidecar } from '../interop/lnd-sidecar.ts';
import { nodeFiles } from './node-files.ts';

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');

/** The URL and the macaroon of a node: a fake, or a proxy in front of one. */
export interface NodePlace {
  readonly url: string;
  /** The certificate at that URL, PEM. */
  readonly cert: string;
  /** The macaroon, hex. */
  readonly adminMacaroon: string;
}

/** The output and the exit code of a program. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The compiled binary in front of a fake LND. */
export interface SidecarOnFake extends LndSidecar {
  /** The credentials that `connect lnd` made for the node. */
  readonly credentials: string;
  /** The file with these credentials. */
  readonly credentialsPath: string;
}

/**
 * Runs the binary to its end, for at most 30 seconds, without blocking this process, because the fake node runs in it.
 */
export async function run(...args: readonly string[]): Promise<Ended> {
  const child = Bun.spawn([BINARY, ...args], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    timeout: 30_000,
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode };
}

/** Runs `connect lnd` for a node. */
export async function connect(node: NodePlace): Promise<Ended> {
  using files = nodeFiles(node);
  return await run(
    ...['connect', 'lnd', '--url', files.restUrl, '--cert-path', files.tlsCertPath],
    ...['--macaroon-path', files.macaroonPath],
  );
}

/** The credentials that `connect lnd` prints for a node. */
export async function credentialsOf(node: NodePlace): Promise<string> {
  const { exitCode, stdout, stderr } = await connect(node);
  if (exitCode !== 0) throw new Error(`connect lnd failed: ${stderr}`);
  return stdout.trim();
}

/** Starts the sidecar with a node as its default one. */
export async function startSidecarOnFake(
  node: NodePlace,
  flags: readonly string[] = [],
): Promise<SidecarOnFake> {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-credentials-'));
  const credentialsPath = join(folder, 'node.credentials');
  const credentials = await credentialsOf(node);
  writeFileSync(credentialsPath, `${credentials}\n`, { mode: 0o600 });
  const sidecar = await startLndSidecar(['--client-credentials-path', credentialsPath, ...flags]);
  return {
    ...sidecar,
    credentials,
    credentialsPath,
    close: async () => {
      await sidecar.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
