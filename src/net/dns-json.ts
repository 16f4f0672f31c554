import { z } from 'zod';
import { serviceFailed } from './service-error.ts';

const TYPE = { CNAME: 5, TXT: 16, DNAME: 39 } as const;
const NO_ERROR = 0;
const NAME_ERROR = 3;
/** Most aliases that are followed from a name to its record. */
const MAX_ALIASES = 8;

const record = z.object({ name: z.string(), type: z.int(), data: z.string() });
type DnsRecord = z.output<typeof record>;

const message = z.object({
  Status: z.int(),
  /** Whether the answer was cut short. */
  TC: z.boolean().optional(),
  /** Whether the resolver validated the answer with DNSSEC. */
  AD: z.boolean().optional(),
  Question: z.array(z.object({ name: z.string(), type: z.int() })).optional(),
  Answer: z.array(record).optional(),
});

/**
 * The TXT records of a name in a resolver's answer (`application/dns-json`), each joined to one text; null when the
 * name does not exist or has none. Only an answer to this very question counts, validated with DNSSEC; records of
 * other names are ignored, aliases inside the answer are followed. Throws error 113.
 */
export function readTxtAnswer(answer: unknown, name: string): readonly string[] | null {
  const { success, data } = message.safeParse(answer);
  if (!success || data.TC) throw unreadable();
  if (data.Status !== NO_ERROR && data.Status !== NAME_ERROR) {
    throw unusable(`The DNS resolver failed to look up ${name}: try again later.`);
  }
  const [question, more] = data.Question ?? [];
  const answersUs = question && canonical(question.name) === canonical(name);
  if (!answersUs || question.type !== TYPE.TXT || more) {
    throw unusable('The DNS resolver answered another question: check --doh-url.');
  }
  if (data.Status === NAME_ERROR) return null;
  if (data.AD !== true) {
    throw unusable(
      `${name} is not secured by DNSSEC, so its record could be forged: ask the receiver for another way to pay.`,
    );
  }
  const texts = recordsOf(name, data.Answer ?? []).map(joinTexts);
  return texts.length === 0 ? null : texts;
}

/** The TXT records at the end of the aliases that begin at a name (RFC 1034, RFC 6672). */
function recordsOf(name: string, answer: readonly DnsRecord[]): DnsRecord[] {
  let owner = canonical(name);
  for (let aliases = 0; aliases <= MAX_ALIASES; aliases++) {
    const own = answer.filter((one) => canonical(one.name) === owner);
    const texts = own.filter(({ type }) => type === TYPE.TXT);
    const next = aliasOf(owner, own, answer);
    if (next === null) return texts;
    if (texts.length > 0)
      throw unusable(`${name} is both an alias and a record, so it cannot be used.`);
    owner = next;
  }
  throw unusable(`${name} leads through too many aliases, or in a circle, so it cannot be used.`);
}

function aliasOf(
  owner: string,
  own: readonly DnsRecord[],
  answer: readonly DnsRecord[],
): string | null {
  const [alias, second] = own.filter(({ type }) => type === TYPE.CNAME);
  if (second) throw unreadable();
  if (alias) return canonical(alias.data);
  const above = answer.find(
    ({ type, name }) => type === TYPE.DNAME && owner.endsWith(`.${canonical(name)}`),
  );
  if (!above) return null;
  return owner.slice(0, -canonical(above.name).length) + canonical(above.data);
}

/** A name as names are compared: case and the final dot do not matter (RFC 4343). */
function canonical(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/\.$/, '');
}

/**
 * The strings of one record joined with nothing between (BIP 353). They are quoted in the JSON form, and bytes are
 * escaped as in a zone file (RFC 1035); some resolvers leave the quotes out.
 */
function joinTexts({ data }: DnsRecord): string {
  if (!data.startsWith('"')) return textOf(data);
  if (!/^"(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*\s*$/su.test(data)) throw unreadable();
  const strings = data.match(/"(?:[^"\\]|\\.)*"/gsu) ?? [];
  return textOf(strings.map((quoted) => quoted.slice(1, -1)).join(''));
}

function textOf(escaped: string): string {
  if (!escaped.isWellFormed()) throw unreadable();
  const bytes = Array.from(escaped.matchAll(/\\(\d{3})|\\?(.)/gsu), ([, code, character = '']) => {
    if (code === undefined) return Buffer.from(character);
    if (Number(code) > 255) throw unreadable();
    return Buffer.of(Number(code));
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(bytes));
  } catch {
    throw unreadable();
  }
}

function unreadable() {
  return unusable('The DNS-over-HTTPS resolver answered something unreadable: check --doh-url.');
}

function unusable(sentence: string) {
  return serviceFailed('unusable_answer', sentence);
}
