import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from '../conformance/request.ts';
import { credentialsOf, type NodePlace } from '../hostile/sidecar-on-fake.ts';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import {
  type Answer,
  type CallOptions,
  type SucceedingCalls,
  succeedingCalls,
} from '../support/requests.ts';
import { until, waitUntil } from '../support/until.ts';

/** The key for secrets of every fleet. */
export const FLEET_KEY = '5e'.repeat(32);

/** One sidecar of a fleet: the compiled binary with a data directory and a port of its own. */
export interface Member extends SucceedingCalls {
  readonly name: string;
  readonly baseUrl: string;
  /** The proxy by which the others reach it. */
  readonly way: CuttingProxy;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Everything that it has logged since its first start. */
  log(): string;
  running(): boolean;
  /** Starts it, and waits until it answers. */
  start(): Promise<void>;
  /** Starts it, and does not wait. */
  begin(): void;
  kill(): Promise<void>;
  stop(): Promise<number>;
  exit(): Promise<number>;
  /** Sends SIGSTOP or SIGCONT. */
  pause(): void;
  resume(): void;
  /** Whether it says that it leads. */
  leads(): Promise<boolean>;
}

/** Several sidecars on one database in front of one node. */
export interface Fleet {
  readonly members: readonly Member[];
  readonly credentials: string;
  /** Resolves to the one that leads. */
  leader(): Promise<Member>;
  /** Resolves once one of them leads, and no other says so. */
  oneLeads(): Promise<void>;
  /** The others. */
  standbys(): Promise<readonly Member[]>;
  close(): Promise<void>;
}

interface FleetOptions {
  readonly size: number;
  readonly databaseUrl: string;
  readonly leaseSecs: number;
  /** Flags of every member. */
  readonly flags?: readonly string[];
  /** Flags of one member, by its number. */
  readonly flagsOf?: (at: number) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether they reach each other without the proxy, which takes time. */
  readonly direct?: boolean;
}

/** Starts them one after another; the first leads. */
export async function startFleet(node: NodePlace, options: FleetOptions): Promise<Fleet> {
  const folder = temporaryFolder('fleet');
  const credentials = await credentialsOf(node);
  const credentialsPath = join(folder, 'node.credentials');
  writeFileSync(credentialsPath, `${credentials}\n`, { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: '/nonexistent',
    SERVICE_CLIENT_CREDENTIALS_PATH: credentialsPath,
    SERVICE_DATABASE_URL: options.databaseUrl,
    SERVICE_SECRETS_KEY: FLEET_KEY,
    SERVICE_DATABASE_LEASE_SECS: `${options.leaseSecs}`,
    ...options.env,
  };
  const members = Array.from({ length: options.size }, (_, at) =>
    openMember(`sidecar ${at}`, {
      dataDir: join(folder, `data-${at}`),
      env,
      direct: options.direct === true,
      flags: [...(options.flags ?? []), ...(options.flagsOf?.(at) ?? [])],
    }),
  );
  for (const member of members) await member.start();
  const leader = () =>
    waitUntil('one leads', async () => {
      for (const member of members) if (await member.leads()) return member;
      return false;
    });
  return {
    members,
    credentials,
    leader,
    async oneLeads() {
      await until(async () => {
        const leading = await Promise.all(members.map((member) => member.leads()));
        return leading.filter(Boolean).length === 1;
      }, 'one leads alone');
    },
    async standbys() {
      const first = await leader();
      return members.filter((member) => member !== first);
    },
    async close() {
      for (const member of members) {
        await member.kill();
        member.way.stop();
      }
      removeFolder(folder);
    },
  };
}

function openMember(
  name: string,
  {
    dataDir,
    env,
    flags,
    direct,
  }: {
    dataDir: string;
    env: Readonly<Record<string, string>>;
    flags: readonly string[];
    direct: boolean;
  },
): Member {
  const port = freePort();
  const way = cuttingProxy(port);
  const baseUrl = `http://127.0.0.1:${port}`;
  let log = '';
  let child: SidecarProcess | null = null;
  const call: Member['call'] = (method, path, given = {}) => request(baseUrl, method, path, given);
  const begin = () => {
    child = startBinary(
      [
        ...['serve', '--data-dir', dataDir, '--listen-addr', `127.0.0.1:${port}`],
        ...[
          '--peer-url',
          `http://127.0.0.1:${direct ? port : way.port}`,
          '--metrics',
          'on',
          ...flags,
        ],
      ],
      {
        env,
        onOutput: (text) => {
          log += text;
        },
      },
    );
  };
  return {
    name,
    baseUrl,
    way,
    call,
    ...succeedingCalls(call),
    log: () => log,
    running: () => child?.running() ?? false,
    begin,
    async start() {
      begin();
      await child?.answers(baseUrl);
    },
    kill: async () => child?.kill(),
    stop: async () => (await child?.stop()) ?? 0,
    exit: async () => (await child?.exit()) ?? 0,
    pause: () => child?.signal('SIGSTOP'),
    resume: () => child?.signal('SIGCONT'),
    async leads() {
      const metrics = await fetch(`${baseUrl}/metrics`, { signal: AbortSignal.timeout(1000) })
        .then((answer) => answer.text())
        .catch(() => '');
      return /^wallet_sidecar_leading 1$/m.test(metrics);
    },
  };
}
