import { freePort } from '../../tests/support/ports.ts';
import { cpuTimeMs } from '../cpu-time.ts';
import { running } from '../floors.ts';
import { converse, type LoadRequest } from '../load.ts';
import { openReaders } from '../readers.ts';
import { newWallet, post, startSandbox, TERMS } from '../sandbox.ts';
import type { Bench } from './part.ts';

/** Numbers of event streams that are told of the same payments. */
const READERS = [1, 200, 2000];
const PAIRS = 40;
/** Each side of a pair has one update that the streams of the default wallet are told of, and this many bytes. */
const UPDATES = 2;
const UPDATE_BYTES = 1_039;

/**
 * Measures the CPU time of a pair of create_invoice and pay_invoice, which are two updates, told to many streams, and
 * that of a bare server that sends as many bytes to as many streams.
 */
export async function measureStreams({ note, folder, floors }: Bench): Promise<void> {
  const sidecar = await startSandbox(folder);
  const port = freePort();
  const { streams: program } = await floors();
  const bare = await running([program, String(port), String(UPDATE_BYTES)], port);
  try {
    const payer = await newWallet(sidecar.call);
    let alone: number | null = null;
    for (const readers of READERS) {
      const cpuMs = await cpuOfPair(sidecar, readers, pairs(payer));
      const floorMs = await cpuOfPair({ ...bare, port }, readers, updates());
      if (cpuMs === null || floorMs === null) return;
      alone ??= cpuMs;
      const times = cpuMs / alone;
      note(
        `CPU of a pair, told to ${readers} ${readers === 1 ? 'stream' : 'streams'}`,
        `${cpuMs.toFixed(1)} ms${readers > 1 ? `, ${times.toFixed(1)} times` : ''}`,
        {
          beside: `${floorMs.toFixed(1)} ms, a bare server that sends the same`,
          ...(readers === READERS.at(-1) ? { goal: { target: 'streams', is: times } } : {}),
        },
      );
    }
  } finally {
    await bare.stop();
    await sidecar.stop();
  }
}

/** One caller's requests, each made of the answer before. */
type Requests = Generator<LoadRequest, void, string>;

async function cpuOfPair(
  { port, pid }: { readonly port: number; readonly pid: number },
  readers: number,
  requests: Requests,
): Promise<number | null> {
  const close = await openReaders(port, readers);
  const before = cpuTimeMs(pid);
  let answer = '';
  await converse(port, {
    next: () => requests.next(answer).value ?? null,
    answered({ status, text }) {
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 600)}`);
      answer = text;
    },
  });
  const after = cpuTimeMs(pid);
  close();
  return before === null || after === null ? null : (after - before) / PAIRS;
}

function* pairs(payer: string): Requests {
  for (let made = 0; made < PAIRS; made++) {
    const { invoice } = JSON.parse(yield post('/v2/node/create_invoice', TERMS));
    yield post('/v2/node/pay_invoice', { invoice }, payer);
  }
}

function* updates(): Requests {
  for (let sent = 0; sent < PAIRS * UPDATES; sent++) yield { method: 'POST', path: '/' };
}
