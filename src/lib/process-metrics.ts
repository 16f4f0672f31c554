import { readdir } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';

/** Where Linux lists the files that this process has open. */
const OPEN_FILES = '/proc/self/fd';

/** Registers memory, processor time and open files of this process, under the names of Prometheus' own clients. */
export function processMetrics(metrics: Metrics, clock: Clock): void {
  const startedAtSecs = clock.now() / 1000 - process.uptime();
  metrics.gauge(
    { name: 'process_resident_memory_bytes', help: 'Memory that the process holds.' },
    async () => [{ labels: {}, value: process.memoryUsage.rss() }],
  );
  metrics.readCounter(
    { name: 'process_cpu_seconds_total', help: 'Processor time that the process has used.' },
    async () => {
      const { user, system } = process.cpuUsage();
      return [{ labels: {}, value: (user + system) / 1e6 }];
    },
  );
  metrics.gauge(
    { name: 'process_start_time_seconds', help: 'When the process started, in UNIX time.' },
    async () => [{ labels: {}, value: startedAtSecs }],
  );
  if (process.platform !== 'linux') return;
  metrics.gauge(
    { name: 'process_open_fds', help: 'Files and sockets that are open.' },
    async () => [{ labels: {}, value: (await readdir(OPEN_FILES)).length }],
  );
}
