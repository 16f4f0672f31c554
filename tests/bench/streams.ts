import { cpuTimeMs } from './cpu-time.ts';
import type { Note } from './endurance.ts';
import { converse } from './load.ts';
import { openReaders } from './readers.ts';

/** Numbers of event streams that are told of the same payments. */
const READERS = [1, 200, 2000];
const PAIRS = 40;
/** How many times as much CPU time 2,000 streams may take as one does. */
const MOST_TIMES = 3;

interface Watched {
  readonly port: number;
  readonly pid: number;
  /** Credentials of the wallet that pays. */
  readonly payer: string;
}

/** Measures the CPU time of a pair of create_invoice and pay_invoice, which are two updates, told to many streams. */
export async function measureStreams(watched: Watched, note: Note): Promise<void> {
  let alone: number | null = null;
  for (const readers of READERS) {
    const close = await openReaders(watched.port, readers);
    const before = cpuTimeMs(watched.pid);
    await makePairs(watched);
    const after = cpuTimeMs(watched.pid);
    close();
    if (before === null || after === null) return;
    const cpuMs = (after - before) / PAIRS;
    alone ??= cpuMs;
    const times = cpuMs / alone;
    const name = `CPU of a pair, told to ${readers} ${readers === 1 ? 'stream' : 'streams'}`;
    const value = `${cpuMs.toFixed(1)} ms`;
    if (readers < 2000) note(name, value);
    else
      note(name, `${value}, ${times.toFixed(1)} times`, `${MOST_TIMES} times`, times <= MOST_TIMES);
  }
}

/** Makes invoices of the default wallet and pays them, one after another on one connection. */
async function makePairs({ port, payer }: Watched): Promise<void> {
  let left = PAIRS * 2;
  let invoice: string | null = null;
  await converse(port, {
    next() {
      if (left-- === 0) return null;
      const body = JSON.stringify(invoice === null ? { amount: '1' } : { invoice });
      return invoice === null
        ? { method: 'POST', path: '/v2/node/create_invoice', body }
        : {
            method: 'POST',
            path: '/v2/node/pay_invoice',
            headers: { authorization: `Bearer ${payer}` },
            body,
          };
    },
    answered({ status, text }) {
      if (status !== 200) throw new Error(`${status} ${text}`);
      invoice = invoice === null ? (JSON.parse(text) as { invoice: string }).invoice : null;
    },
  });
}
