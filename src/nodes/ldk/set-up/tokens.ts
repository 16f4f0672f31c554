import { hex } from '@scure/base';
import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import type { Permission } from '../../../model/clients/permissions.ts';
import { ApiError, endedCredentials } from '../../../model/errors.ts';
import type { ClientToken, IssueTokenCommand, NodeTokens } from '../../node.ts';
import type { LdkWallet } from '../process/wallet.ts';

const KIND = 'ldk_tokens';
const KEY = 'all';

const shape = once(() =>
  z.record(
    z.string(),
    z.object({ permissions: z.array(z.string()), expiresAtMs: z.int().nullable() }),
  ),
);
type Kept = z.output<ReturnType<typeof shape>>;

type TokensOf = Pick<LdkWallet, 'rows' | 'userPk' | 'locks' | 'random' | 'clock'>;

/** Whether a handle may use a permission. */
export interface Access {
  /**
   * Throws `unauthenticated` where the token has ended, and `forbidden` where it has none of the permissions. Without
   * permissions every valid token suffices.
   */
  require(...oneOf: readonly Permission[]): Promise<void>;
  /** Throws unless the token has all of the permissions, since a client can grant no more than it has. */
  requireAll(permissions: readonly Permission[]): Promise<void>;
}

/** The access of the wallet's owner. */
export const OWNER: Access = {
  require: async () => undefined,
  requireAll: async () => undefined,
};

/**
 * The tokens of clients. LDK has none, so this connector keeps what each allows, and checks it at each call: what the
 * sidecar's own grant should have refused is refused here too (docs/decisions.md 57).
 */
export function ldkTokens(wallet: TokensOf, access: Access): NodeTokens {
  const change = (edit: (kept: Kept) => Kept) =>
    wallet.locks.run(KIND, async () => {
      await wallet.rows.put(wallet.userPk, KIND, KEY, edit(await readTokens(wallet)));
    });
  return {
    newId: () => hex.encode(wallet.random(16)),
    async issue({ id, permissions, expiresAtMs }: IssueTokenCommand) {
      await access.require('create_client', 'update_client');
      await access.requireAll(permissions);
      await change((kept) => ({ ...kept, [id]: { permissions: [...permissions], expiresAtMs } }));
      return id;
    },
    async revoke(id) {
      await access.require('revoke_client', 'update_client');
      await change((kept) =>
        Object.fromEntries(Object.entries(kept).filter(([one]) => one !== id)),
      );
    },
    async list() {
      await access.require('list_clients', 'revoke_client', 'update_client');
      const nowMs = wallet.clock.now();
      return Object.entries(await readTokens(wallet))
        .filter(([, { expiresAtMs }]) => expiresAtMs === null || expiresAtMs > nowMs)
        .map(([id]) => id);
    },
  };
}

/** What a client's token allows now. `token` is called at each use, because a changed grant replaces it. */
export function accessOf(wallet: TokensOf, token: () => ClientToken): Access {
  const granted = async (): Promise<ReadonlySet<string>> => {
    const kept = (await readTokens(wallet))[token().token];
    const isOver = kept?.expiresAtMs != null && kept.expiresAtMs <= wallet.clock.now();
    if (kept === undefined || isOver) throw endedCredentials();
    return new Set(kept.permissions);
  };
  return {
    async require(...oneOf) {
      const permissions = await granted();
      if (oneOf.length === 0 || oneOf.some((one) => permissions.has(one))) return;
      throw lacking(oneOf[0]);
    },
    async requireAll(needed) {
      const permissions = await granted();
      const missing = needed.find((one) => !permissions.has(one));
      if (missing !== undefined) throw lacking(missing);
    },
  };
}

async function readTokens({ rows, userPk }: TokensOf): Promise<Kept> {
  return shape().parse((await rows.get(userPk, KIND, KEY)) ?? {});
}

function lacking(permission: Permission | undefined): ApiError {
  return new ApiError('forbidden', `These credentials may not use ${permission}.`, {
    data: { permission },
  });
}
