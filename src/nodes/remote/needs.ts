import { PERMISSIONS, type Permission } from '../../model/permissions.ts';

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
export const NO_NEEDS = { own: [], owner: [] } as const;

/** What a kind of node needs for each permission; null where it has no such feature (error 110). */
export type NeedsTable<Method extends string> = Readonly<Record<Permission, Needs<Method> | null>>;

/** The methods that a client's token must allow for the permissions, each once. */
export function methodsOf<Method extends string>(
  table: NeedsTable<Method>,
  permissions: readonly Permission[],
): Method[] {
  const methods = permissions.flatMap((permission) => {
    const needs = table[permission];
    return needs === null ? [] : [...needs.own, ...(needs.additions ?? [])];
  });
  return [...new Set(methods)];
}

/**
 * The permissions for which the allowed methods suffice. It includes those that the node cannot serve, which need no
 * method.
 */
export function permissionsBy<Method extends string>(
  table: NeedsTable<Method>,
  allowed: (method: Method) => boolean,
): Permission[] {
  return PERMISSIONS.filter((permission) => {
    const needs = table[permission];
    return needs === null || [...needs.own, ...needs.owner].every(allowed);
  });
}

/** Those of the permissions that the node can serve; the others are error 110 with any token. */
export function servedOf<Method extends string>(
  table: NeedsTable<Method>,
  permissions: readonly Permission[],
): Permission[] {
  return permissions.filter((permission) => table[permission] !== null);
}
