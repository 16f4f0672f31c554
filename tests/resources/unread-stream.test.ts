import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { metricsReader } from '../conformance/metrics-reader.ts';
import { until } from '../conformance/until.ts';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';

/** With their descriptions more than the buffers of a connection hold, some 4 MB. */
const INVOICES = 3_000;
const STREAMS = 5;
const description = 'x'.repeat(600);

let world: ConformanceWorld;
const sockets: Socket[] = [];
beforeAll(async () => {
  world = await openConformanceWorld();
}, 30_000);
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await world.close();
});

const descriptors = () => readdirSync(`/proc/${world.sidecar().pid}/fd`).length;
const memoryMb = () => {
  const status = readFileSync(`/proc/${world.sidecar().pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
};

async function createInvoices(count: number): Promise<void> {
  let left = count;
  const create = async () => {
    while (left-- > 0) {
      await world.post('/v2/node/create_invoice', { body: { amount: '1', description } });
    }
  };
  await Promise.all(Array.from({ length: 16 }, create));
}

test.skipIf(process.platform !== 'linux')(
  'streams that are not read end within a minute, and hold neither memory nor descriptors',
  async () => {
    await createInvoices(INVOICES / 2);
    const metrics = metricsReader(() => world.baseUrl);
    const feeds = async () =>
      [...(await metrics.series('wallet_sidecar_open_feeds')).values()].reduce((a, b) => a + b, 0);
    const before = { descriptors: descriptors(), memoryMb: memoryMb() };
    const start = `u${'0'.repeat(19)}-ln_${'0'.repeat(64)}`;
    for (let i = 0; i < STREAMS; i++) {
      const socket = connect(world.port, '127.0.0.1', () =>
        socket.write(
          `GET /v2/node/events?start_index=${start} HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\n\r\n`,
        ),
      ).pause();
      sockets.push(socket);
    }
    await until(() => descriptors() >= before.descriptors + STREAMS);
    expect(await feeds()).toBeGreaterThan(0);
    await createInvoices(INVOICES / 2);
    expect(descriptors()).toBeGreaterThanOrEqual(before.descriptors + STREAMS);
    expect(memoryMb()).toBeLessThan(before.memoryMb + 100);
    await until(() => descriptors() < before.descriptors + STREAMS, 75);
    await until(() => descriptors() <= before.descriptors + 1);
    expect((await fetch(`${world.baseUrl}/v2/health`)).status).toBe(200);
  },
  180_000,
);
