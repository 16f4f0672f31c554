import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { isSameSecret } from '../lib/secrets/same-secret.ts';

/** The header by which a sidecar that stands by tells the one that leads whose request it passes on. */
export const PASSED_ON_HEADER = 'wallet-sidecar-passed-on';

/** What the sidecar that was called tells of a request, since only that one could know (docs/decisions.md 139). */
export interface PassedOn {
  /** The Host header, which it has accepted. */
  readonly host: string;
  /** The source of the request, by which requests of strangers are bounded. */
  readonly source: string;
}

interface PassedHead {
  readonly method: string;
  /** The path with the query. */
  readonly target: string;
}

/** A header that a sidecar with the same key wrote for this very request. */
interface GenuineHeader extends PassedOn, Numbered {
  /** The fencing number of the sidecar that it was sent to. */
  readonly fence: string;
}

/** Writes and checks {@link PASSED_ON_HEADER}. */
export interface PassedOnSeal {
  write(fence: string, head: PassedHead, facts: PassedOn): string;
  /** Returns what the header says; null unless it is genuine. */
  read(header: string, head: PassedHead): GenuineHeader | null;
  /** Returns whether a genuine header is good, and uses it up. */
  useUp(header: GenuineHeader): Use;
}

/** The clocks of a seal, in milliseconds. */
interface SealClocks {
  /** Since the UNIX epoch. */
  readonly nowMs: () => number;
  /** Monotonic. */
  readonly elapsedMs: () => number;
}

/**
 * Returns the seal of the sidecars that share this key for secrets: HMAC-SHA256 with a key that is derived from it.
 * Each header carries a time and a count of its own, and is good once (docs/decisions.md 163).
 */
export function passedOnSeal(
  secretsKey: Uint8Array,
  { nowMs, elapsedMs }: SealClocks,
): PassedOnSeal {
  const sender = randomBytes(12).toString('base64url');
  let count = 0;
  const key = Buffer.from(hkdfSync('sha256', secretsKey, '', 'wallet-sidecar/passed-on', 32));
  const codeOf = (facts: GenuineHeader, { method, target }: PassedHead) =>
    createHmac('sha256', key)
      .update(
        JSON.stringify([
          ...[facts.fence, method, target, facts.host, facts.source],
          ...[facts.sender, facts.count, facts.atMs],
        ]),
      )
      .digest('base64url');
  return {
    write(fence, head, { host, source }) {
      const facts = { fence, host, source, sender, count: count++, atMs: nowMs() };
      const text = Buffer.from(JSON.stringify(facts)).toString('base64url');
      return `${text}.${codeOf(facts, head)}`;
    },
    read(header, head) {
      const [text = '', code = ''] = header.split('.');
      const facts = factsIn(text);
      return facts !== null && isSameSecret(code, codeOf(facts, head)) ? facts : null;
    },
    useUp: onceOnly(nowMs, elapsedMs),
  };
}

function factsIn(text: string): GenuineHeader | null {
  try {
    const facts = JSON.parse(Buffer.from(text, 'base64url').toString());
    const { fence, host, source, sender, count, atMs } = facts;
    const isForm =
      [fence, host, source, sender].every((one) => typeof one === 'string') &&
      [count, atMs].every((one) => Number.isSafeInteger(one));
    return isForm ? { fence, host, source, sender, count, atMs } : null;
  } catch {
    return null;
  }
}

interface Numbered {
  /** Drawn by the process that wrote the header. */
  readonly sender: string;
  /** Counts the requests that this process has passed on. */
  readonly count: number;
  /** When the header was written, by the clock of its machine, in milliseconds. */
  readonly atMs: number;
}

/** A header of this age is not believed, nor is one from that far in the future. The clocks of machines differ. */
const FRESH_MS = 60_000;

interface Sender {
  /** Every count up to this one has been used or is too old. */
  floor: number;
  /** The counts above the floor that were used, each with the time at which it came, oldest first. */
  readonly used: Map<number, number>;
}

/** What a numbered header is: `good` once, then `used`; `stale` where it is not fresh. */
type Use = 'good' | 'used' | 'stale';

/**
 * Returns a function that says whether a numbered header is good, and counts it as used. What is remembered of a header
 * is forgotten when it is no longer fresh. Its count stays below the floor, so that a clock that is set back makes
 * nothing good again.
 */
function onceOnly(nowMs: () => number, elapsedMs: () => number): (one: Numbered) => Use {
  const senders = new Map<string, Sender>();
  return ({ sender, count, atMs }) => {
    if (Math.abs(nowMs() - atMs) > FRESH_MS) return 'stale';
    const known = senders.get(sender) ?? { floor: -1, used: new Map<number, number>() };
    senders.set(sender, known);
    const beganMs = elapsedMs();
    for (const [old, cameMs] of known.used) {
      if (beganMs - cameMs <= 2 * FRESH_MS) break;
      known.used.delete(old);
      known.floor = Math.max(known.floor, old);
    }
    if (count <= known.floor || known.used.has(count)) return 'used';
    known.used.set(count, beganMs);
    return 'good';
  };
}
