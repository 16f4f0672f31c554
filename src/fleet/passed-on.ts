import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { isSameSecret } from '../lib/secrets/same-secret.ts';
import { type Numbered, onceOnly, type Use } from './once-only.ts';

/** The header by which a sidecar that stands by tells the one that leads whose request it passes on. */
export const PASSED_ON_HEADER = 'wallet-sidecar-passed-on';

/** What the sidecar that was called tells of a request, since only that one could know (docs/decisions.md 139). */
export interface PassedOn {
  /** The Host header, which it has accepted. */
  readonly host: string;
  /** The source of the request, by which requests of strangers are bounded. */
  readonly source: string;
}

/** The part of a request that the header belongs to. */
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
