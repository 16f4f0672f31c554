import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** With their texts, whose characters JSON doubles, these are about 5 MB: more than buffers of a connection hold. */
const INVOICES = 1_500;
const STREAMS = 5;
const description = '"'.repeat(600);
const personalNote = '"'.repeat(200);
const FIRST_INDEX = `u${'0'.repeat(19)}-ln_${'0'.repeat(64)}`;

let world: ConformanceWorld;
let client: ReturnType<typeof openUnread> | null = null;
beforeAll(async () => {
  world = await openConformanceWorld();
}, 30_000);
afterAll(async () => {
  client?.kill();
  await world.close();
});

const memoryMb = () => {
  const status = readFileSync(`/proc/${world.sidecar().pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
};

/** Returns the rows of the system's list of IPv4 connections. */
function connections() {
  const port = (end = '') => Number.parseInt(end.slice(-4), 16);
  const rows = readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n').slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .map(([, local, remote, state, , , , , , inode]) => ({
      local: port(local),
      remote: port(remote),
      established: state === '01',
      inode,
    }));
}

/** Returns how many of the streams the server still holds. */
function streamsHeld(): number {
  const sockets = new Set(
    readdirSync(`/proc/${client?.pid}/fd`).map((fd) => linkOf(`/proc/${client?.pid}/fd/${fd}`)),
  );
  const all = connections();
  const ports = new Set(
    all.filter(({ inode }) => sockets.has(`socket:[${inode}]`)).map(({ local }) => local),
  );
  const held = all.filter(
    ({ local, remote, established }) => established && local === world.port && ports.has(remote),
  );
  // The list may show a row twice when it changes while it is read.
  return new Set(held.map(({ remote }) => remote)).size;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

async function createInvoices(count: number): Promise<void> {
  let left = count;
  const create = async () => {
    while (left-- > 0) {
      await world.post('/v2/node/create_invoice', {
        amount: '1',
        description,
        personal_note: personalNote,
        expiration_secs: 3600,
      });
    }
  };
  await Promise.all(Array.from({ length: 16 }, create));
}

/**
 * Opens streams from the first payment on, in a process that reads nothing. Bun cannot be used, because it reads even
 * where it should pause.
 */
function openUnread(count: number) {
  const request = `GET /v2/node/events?start_index=${FIRST_INDEX} HTTP/1.1\\r\\nHost: 127.0.0.1:${world.port}\\r\\n\\r\\n`;
  const script = `for i in $(seq ${count}); do exec {fd}<>/dev/tcp/127.0.0.1/${world.port}; printf '${request}' >&$fd; done; read -r`;
  return Bun.spawn(['bash', '-c', script], { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit' });
}

test.skipIf(process.platform !== 'linux')(
  'streams that are not read end within a minute, and hold neither memory nor connections',
  async () => {
    await createInvoices(INVOICES);
    const before = memoryMb();
    client = openUnread(STREAMS);
    await until(() => streamsHeld() === STREAMS);
    await createInvoices(100);
    expect(streamsHeld()).toBe(STREAMS);
    expect(memoryMb()).toBeLessThan(before + 100);
    await until(() => streamsHeld() === 0, 'every stream was let go', 75_000);
    expect((await fetch(`${world.baseUrl}/v2/health`)).status).toBe(200);
  },
  180_000,
);
