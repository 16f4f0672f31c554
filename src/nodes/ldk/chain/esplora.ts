import { hex } from '@scure/base';
import type { Network } from '../../../codecs/network.ts';
import type { Clock } from '../../../lib/clock.ts';
import { failureOf, RemoteFailure } from '../../remote/calls/failure.ts';
import { checkedAnswer, readBlock, readHash } from './esplora-answers.ts';
import { tipNote } from './esplora-tip.ts';
import {
  BadAnswer,
  notGiven,
  problemOf,
  redirected,
  tooMany,
  unlikeEsplora,
} from './esplora-words.ts';

interface EsploraOptions {
  /** The address that was configured, without a slash at its end. */
  readonly url: string;
  readonly network: Network;
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** Returns the greatest height that was seen in earlier runs; 0 before the first. */
  readonly highest: () => Promise<number>;
  /** Stores a greater height. */
  readonly keepHighest: (height: number) => Promise<void>;
}

/** An Esplora whose answers are looked at before the LDK node gets them. */
export interface CheckedEsplora {
  /** Where the node asks, on this machine. */
  readonly url: string;
  /** What is wrong with the Esplora, as sentences for health. */
  problems(): readonly string[];
  close(): Promise<void>;
}

/** LDK gives up after ten seconds. */
const ANSWERS_WITHIN_MS = 9_000;
/** More than any answer that LDK and BDK ask for: 25 transactions with their coins. */
const MOST_BYTES = 32 * 1024 * 1024;
/** A problem that does not come again is over after this time: the chain is looked at more often. */
const PROBLEM_LASTS_MS = 90_000;
/** How long an Esplora that says "too many requests" is left alone, unless it says for how long. */
const LEFT_ALONE_SECS = 10;
const MOST_ALONE_SECS = 600;
/** Statuses by which an Esplora says that there is no such thing, or that a request is not good. */
const SAYS_NO: readonly number[] = [400, 404];
/** To the node: not now. LDK's client asks again by itself after 429, 500 and 503, which would be no help. */
const NOT_NOW = 502;

/**
 * Serves an Esplora on this machine for the LDK node alone, which believes whatever it is told. What is false beyond
 * doubt, of another chain, behind, too large or too late does not get through (docs/ldk.md); fee rates are bounded. It
 * is no proof of what does.
 */
export function checkedEsplora(options: EsploraOptions): CheckedEsplora {
  const { network, clock, elapsedMs } = options;
  const { base, login } = placeOf(options.url);
  const secret = `/${hex.encode(options.random(16))}/`;
  const problems = new Map<string, { readonly sentence: string; readonly atMs: number }>();
  let aloneUntilMs = Number.NEGATIVE_INFINITY;
  let newestHash: string | null = null;
  let newestNote: string | null = null;
  let highest: number | null = null;

  async function ask(
    path: string,
    signal: AbortSignal,
    body: Uint8Array<ArrayBuffer> | null = null,
  ): Promise<{ readonly status: number; readonly body: Uint8Array }> {
    const aloneMs = aloneUntilMs - elapsedMs();
    // What is published may be due, such as what answers a peer that cheats.
    if (body === null && aloneMs > 0) throw tooMany(Math.ceil(aloneMs / 1000));
    const response = await fetch(`${base}/${path}`, {
      ...{ method: body === null ? 'GET' : 'POST', body, signal },
      // Compressed data could expand beyond the bound, so it is not unpacked.
      ...{ redirect: 'manual', decompress: false },
      headers: { 'accept-encoding': 'identity', ...login },
    });
    const { status, headers } = response;
    if (status === 429) {
      const secs = leftAloneSecs(headers.get('retry-after'));
      aloneUntilMs = elapsedMs() + secs * 1000;
      throw tooMany(secs);
    }
    if (status >= 300 && status < 400) throw redirected(status, headers.get('location'));
    if (!response.ok && !SAYS_NO.includes(status)) throw notGiven(status);
    return { status, body: await boundedBytes(response) };
  }

  async function found(path: string, signal: AbortSignal): Promise<Uint8Array> {
    const { status, body } = await ask(path, signal);
    if (status !== 200) throw unlikeEsplora(path);
    return body;
  }

  /** Returns what health says of the newest block. Throws {@link BadAnswer} where it must not be used. */
  async function noteOf(hash: string, signal: AbortSignal): Promise<string | null> {
    if (hash === newestHash) return newestNote;
    const [first, newest] = await Promise.all([
      found('block-height/0', signal).then((body) => readHash('block-height/0', body)),
      found(`block/${hash}`, signal).then((body) => readBlock(`block/${hash}`, body)),
    ]);
    highest ??= await options.highest();
    const note = tipNote({ network, firstHash: first, newest, highest, nowMs: clock.now() });
    if (newest.height > highest) {
      highest = newest.height;
      // A full disk must not hide the chain from the node: until it can be stored, this process remembers it.
      await options.keepHighest(highest).catch(() => undefined);
    }
    newestHash = hash;
    newestNote = note;
    return note;
  }

  async function answer(path: string, sent: Uint8Array<ArrayBuffer> | null): Promise<Response> {
    const [kind = ''] = path.split('/');
    const topic = sent === null ? kind : 'publish';
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    const told = (sentence: string | null) => {
      if (sentence === null) problems.delete(topic);
      else problems.set(topic, { sentence, atMs: elapsedMs() });
    };
    try {
      const { status, body } = await ask(path, signal, sent);
      if (sent !== null || status !== 200) {
        if (kind === 'blocks' || kind === 'fee-estimates') throw unlikeEsplora(path);
        told(null);
        return new Response(body as Uint8Array<ArrayBuffer>, { status });
      }
      const checked = checkedAnswer(path, body);
      const note = checked.newest === null ? null : await noteOf(checked.newest, signal);
      told(checked.note ?? note);
      return new Response(checked.body as Uint8Array<ArrayBuffer>);
    } catch (error) {
      const isLate = signal.aborted && !(error instanceof BadAnswer);
      const failure = isLate ? new RemoteFailure('timeout', false, error) : error;
      const sentence = problemOf(failure instanceof BadAnswer ? failure : failureOf(failure));
      told(sentence);
      return new Response(sentence, { status: NOT_NOW });
    }
  }

  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 2 * (ANSWERS_WITHIN_MS / 1000) },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (!pathname.startsWith(secret)) return new Response('not found', { status: 404 });
      const sent = request.method === 'POST' ? new Uint8Array(await request.arrayBuffer()) : null;
      return answer(pathname.slice(secret.length), sent);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}${secret.slice(0, -1)}`,
    problems() {
      const since = elapsedMs() - PROBLEM_LASTS_MS;
      const recent = [...problems.values()].filter(({ atMs }) => atMs > since);
      return [...new Set(recent.map(({ sentence }) => sentence))];
    },
    close: () => server.stop(true),
  };
}

/** A password in the address is sent as a header, as every client of HTTP does. */
function placeOf(text: string): { readonly base: string; readonly login: Record<string, string> } {
  const url = new URL(text);
  const { username, password } = url;
  if (username === '' && password === '') return { base: text, login: {} };
  url.username = '';
  url.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const login = { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  return { base: url.href.replace(/\/$/, ''), login };
}

function leftAloneSecs(retryAfter: string | null): number {
  const secs = Number(retryAfter ?? LEFT_ALONE_SECS);
  return Number.isFinite(secs) && secs > 0 ? Math.min(secs, MOST_ALONE_SECS) : LEFT_ALONE_SECS;
}

async function boundedBytes(response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > MOST_BYTES) throw new RemoteFailure('oversized', false);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
