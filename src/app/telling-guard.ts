import type { Config } from '../config/config.ts';
import type { StoreGuard } from '../wallet/session/ports.ts';
import type { OpenedStore } from './open-store.ts';

/** A guard whose standing the processes that stand by are told. */
interface TellingGuard extends StoreGuard {
  /** Tells them where this process is, and whether its store is trusted; does nothing where there can be none. */
  tell(): Promise<void>;
}

/**
 * Returns the guard, which tells the processes that stand by when the owner has confirmed the budgets: only then may
 * their markers follow the store (docs/decisions.md 139).
 */
export function tellingGuard(
  { database }: Pick<Config, 'database'>,
  { leader }: Pick<OpenedStore, 'leader'>,
  guard: StoreGuard,
): TellingGuard {
  const tell = async () => {
    await leader?.tell({ url: database?.peerUrl ?? null, isTrusted: guard.problem() === null });
  };
  return {
    ...guard,
    tell,
    async confirm() {
      await guard.confirm();
      await tell();
    },
  };
}
