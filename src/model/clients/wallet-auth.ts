import type { Parsed } from '../parsed.ts';
import type { BudgetPeriod } from './budget.ts';
import { parseRelay } from './nwc.ts';
import type { Scope } from './permissions.ts';

/** An application that made its own key, and what it asks for, of which nothing is granted (docs/decisions.md 204). */
export interface WalletAuth {
  /** Its public key, in hex. */
  readonly app: string;
  readonly relays: readonly string[];
  readonly scopes: readonly Scope[];
  readonly budget: { readonly sats: bigint; readonly period: BudgetPeriod } | null;
  readonly expiresAtMs: number | null;
  readonly own: boolean;
}

const SCOPES: readonly (readonly [RegExp, Scope])[] = [
  [/^get_balance$/, 'read_info'],
  [/^(lookup_invoice|list_transactions)$|_hold_invoice$/, 'read_payments'],
  [/^make_(hold_)?invoice$/, 'receive'],
  [/^(multi_)?pay_/, 'send'],
];
const PERIODS: Readonly<Record<string, BudgetPeriod>> = {
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
};
const RULE = 'must be a nostr+walletauth URI with the key of an app, a relay and request_methods';

/** Reads the URI by which an application asks to be paired, as Alby's SDK writes it. */
export function parseWalletAuth(text: string): Parsed<WalletAuth> {
  const [, app = '', query = ''] =
    /^nostr\+walletauth(?:\+[a-z]+)?:(?:\/\/)?([0-9a-f]{64})\/?\?(.+)$/.exec(text) ?? [];
  const asked = new URLSearchParams(query);
  const whole = (name: string) =>
    /^\d{1,15}$/.test(asked.get(name) ?? '') ? asked.get(name) : null;
  const relays = asked.getAll('relay');
  const methods = (asked.get('request_methods') ?? '').split(' ');
  const told = asked.get('notification_types') ? ['list_transactions'] : [];
  const scopes = SCOPES.flatMap(([method, scope]) =>
    [...methods, ...told].some((one) => method.test(one)) ? [scope] : [],
  );
  const isRelay = (relay: string) => 'value' in parseRelay(relay);
  if (app === '' || relays.length === 0 || !relays.every(isRelay) || methods[0] === '') {
    return { problem: RULE };
  }
  const [most, expires] = [whole('max_amount'), whole('expires_at')];
  const period = PERIODS[asked.get('budget_renewal') ?? ''] ?? 'total';
  return {
    value: {
      app,
      relays,
      scopes: scopes.length > 0 ? scopes : ['read_info'],
      own: asked.get('isolated') === 'true',
      budget: most ? { sats: BigInt(most) / 1000n, period } : null,
      expiresAtMs: expires ? Number(expires) * 1000 : null,
    },
  };
}
