import { z } from 'zod';
import { ApiError } from '../model/errors.ts';

/** TXT records of a name, each joined to one text; null when the name does not exist or has none. */
export type ResolveTxt = (name: string) => Promise<readonly string[] | null>;

interface DohOptions {
  /** A resolver that validates DNSSEC and speaks `application/dns-json`. Configured by the operator, so trusted. */
  readonly url: string;
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const TXT = 16;
const NAME_ERROR = 3;

const reply = z.object({
  Status: z.int(),
  /** Whether the resolver validated the answer with DNSSEC. */
  AD: z.boolean(),
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).optional(),
});

/** Asks for TXT records over HTTPS; only answers flagged as validated count (decisions section 12). */
export function createTxtResolver(options: DohOptions): ResolveTxt {
  const ask = options.fetch ?? fetch;
  return async (name) => {
    const url = new URL(options.url);
    url.searchParams.set('name', name);
    url.searchParams.set('type', 'TXT');
    url.searchParams.set('do', '1');
    const answer = await readAnswer(ask, url, options.timeoutMs ?? TIMEOUT_MS);
    if (answer.Status === NAME_ERROR) return null;
    if (answer.Status !== 0) {
      throw new ApiError(
        'unreadable',
        `The DNS resolver failed to look up ${name}: try again later.`,
      );
    }
    if (!answer.AD) {
      throw new ApiError(
        'refused',
        `${name} is not secured by DNSSEC, so its record could be forged: ask the receiver for another way to pay.`,
      );
    }
    const texts = (answer.Answer ?? [])
      .filter(({ type }) => type === TXT)
      .map(({ data }) => joinTexts(data));
    return texts.length === 0 ? null : texts;
  };
}

async function readAnswer(
  ask: typeof fetch,
  url: URL,
  timeoutMs: number,
): Promise<z.output<typeof reply>> {
  let text: string;
  try {
    const response = await ask(url, {
      headers: { accept: 'application/dns-json' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await limitedText(response);
  } catch (cause) {
    throw new ApiError(
      'unreachable',
      'The DNS-over-HTTPS resolver cannot be reached: check --doh-url.',
      { cause },
    );
  }
  const parsed = reply.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new ApiError(
    'unreadable',
    'The DNS-over-HTTPS resolver answered something unreadable: check --doh-url.',
  );
}

async function limitedText(response: Response): Promise<string> {
  let size = 0;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The strings of one record, quoted and escaped in the JSON form, joined with nothing between (BIP 353). */
function joinTexts(data: string): string {
  if (!data.startsWith('"')) return data;
  const strings = data.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  return strings
    .map((quoted) =>
      quoted
        .slice(1, -1)
        .replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number(code)))
        .replace(/\\(.)/g, '$1'),
    )
    .join('');
}
