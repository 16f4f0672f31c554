import { PERMISSIONS, type Permission } from '../../../model/clients/permissions.ts';
import type { TokenGrant } from '../../connector.ts';

/** The methods of a node that a permission needs. */
export interface Needs<Method extends string> {
  /** Called with the client's own token, so that the node itself refuses what was not granted. */
  readonly own: readonly Method[];
  /**
   * The client's own token allows these as well, but a configured token without them has the permission all the same:
   * what they do is refused then.
   */
  readonly additions?: readonly Method[];
  /** Called with the owner's token: look-ups that the sidecar needs, so that the client's token need not allow them. */
  readonly owner: readonly Method[];
}

/** For permissions over what the sidecar itself keeps. */
export const NO_NEEDS: Needs<never> = { own: [], owner: [] };

/** What a kind of node needs for each permission; null where it has no such feature (error 110). */
export type NeedsTable<Method extends string> = Readonly<Record<Permission, Needs<Method> | null>>;

/** Returns the methods that a client's token must allow for the permissions, each once. */
export function methodsOf<Method extends string>(
  table: NeedsTable<Method>,
  permissions: readonly Permission[],
): Method[] {
  const methods = permissions.flatMap((permission) => {
    const { own, additions = [] } = table[permission] ?? NO_NEEDS;
    return [...own, ...additions];
  });
  return [...new Set(methods)];
}

/** Returns what a configured token allows, by the methods that it allows. `lacks` says what one without some lacks. */
export function grantBy<Method extends string>(
  table: NeedsTable<Method>,
  allowed: (method: Method) => boolean,
  lacks: (permission: Permission, missing: readonly Method[]) => string,
): TokenGrant {
  const missingFor = (permission: Permission): Method[] => {
    const { own, owner } = table[permission] ?? NO_NEEDS;
    return [...new Set([...own, ...owner])].filter((method) => !allowed(method));
  };
  const permissions = PERMISSIONS.filter((permission) => missingFor(permission).length === 0);
  return {
    permissions,
    served: permissions.filter((permission) => table[permission] !== null),
    lacks: (permission) => lacks(permission, missingFor(permission)),
  };
}
