import { createHmac } from 'node:crypto';
import type { Log } from '../../lib/log.ts';
import { type RateLimit, rateLimit } from '../../lib/rate-limit.ts';
import type { Store } from '../../store/ports.ts';
import type { ServedWallet } from '../session/session.ts';

/** The names that this sidecar serves in one domain, and what their requests need (docs/decisions.md 100). */
export interface Names {
  readonly domain: string;
  /** The URL of the second call of LNURL-pay for a username. */
  readonly callbackUrl: (username: string) => string;
  readonly store: Store;
  readonly wallets: {
    /** Does work in a wallet with its owner's token. Throws `unreachable` without the wallet's node. */
    asOwner<T>(
      walletId: string,
      nodeKind: string,
      work: (wallet: ServedWallet) => Promise<T>,
    ): Promise<T>;
  };
  readonly log: Log;
  readonly random: (bytes: number) => Uint8Array;
  /** How many requests a source address may make. */
  readonly requestsOfSource: RateLimit;
  /** How many invoices may be asked for in a name. */
  readonly invoicesOfName: RateLimit;
  /** A name for a source address that tells nothing of it outside this process. */
  readonly sourceTag: (source: string) => string;
}

type NamesOptions = Omit<Names, 'requestsOfSource' | 'invoicesOfName' | 'sourceTag'> & {
  readonly elapsedMs: () => number;
};

/**
 * The bounds of what strangers can cause. One source address alone does not reach the bounds of a name, and so cannot
 * keep others from paying it.
 */
const SOURCE_LIMIT = { burst: 60, perSec: 1, mostKeys: 10_000 };
const NAME_LIMIT = { burst: 300, perSec: 10, mostKeys: 10_000 };

/** Opens the names of a domain. */
export function openNames({ elapsedMs, ...options }: NamesOptions): Names {
  const tagKey = options.random(32);
  return {
    ...options,
    requestsOfSource: rateLimit({ ...SOURCE_LIMIT, elapsedMs }),
    invoicesOfName: rateLimit({ ...NAME_LIMIT, elapsedMs }),
    sourceTag: (source) => createHmac('sha256', tagKey).update(source).digest('base64url'),
  };
}
