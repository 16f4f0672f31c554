import { timingSafeEqual } from 'node:crypto';
import { hex } from '@scure/base';
import type { Permission } from '../../../model/clients/permissions.ts';
import { ApiError, endedCredentials, refused } from '../../../model/errors.ts';
import type { ClientToken, IssueTokenCommand } from '../../node.ts';
import { allRows, change } from './rows.ts';
import { hashOf } from './token-hash.ts';
import type { World } from './world.ts';

interface Token {
  readonly userPk: string;
  readonly hash: Uint8Array;
  readonly permissions: ReadonlySet<Permission>;
  readonly expiresAtMs: number | null;
}

/** The permissions of one handle, checked before each call. Throws `unauthenticated` and `forbidden`. */
export interface Access {
  /** Throws unless the token is valid and has one of the permissions; without any, only validity is checked. */
  require(...oneOf: Permission[]): void;
  /** Throws unless the token has all of the permissions, since a client can grant no more than it has. */
  requireAll(permissions: readonly Permission[]): void;
}

/** The access of a wallet's owner, which allows everything. */
export const OWNER: Access = { require: () => undefined, requireAll: () => undefined };

/** The tokens of all wallets of a world. */
export type Tokens = ReturnType<typeof openTokens>;

/** Opens the tokens of a world. All are held in memory, so that a call reads no table. */
export function openTokens(world: World) {
  const rows = allRows<Omit<Token, 'permissions'> & { id: string; permissions: string }>(
    world,
    `SELECT id, user_pk AS userPk, token_hash AS hash, permissions, expires_ms AS expiresAtMs
     FROM tokens WHERE revoked_ms IS NULL`,
  );
  const living = new Map<string, Token>(
    rows.map(({ id, permissions, ...same }) => [
      id,
      { ...same, permissions: new Set(JSON.parse(permissions) as Permission[]) },
    ]),
  );
  const isOver = ({ expiresAtMs }: Token) =>
    expiresAtMs !== null && expiresAtMs <= world.clock.now();

  /**
   * Makes a token under an id and returns it. Under the id of a valid token it replaces that token. Throws `refused`
   * when the id belongs to another wallet or its token has ended.
   */
  function issue(userPk: string, command: IssueTokenCommand): string {
    const { id, expiresAtMs } = command;
    const secret = hex.encode(world.random(32));
    const hash = hashOf(secret);
    const permissions = new Set(command.permissions);
    world.transact(() => {
      const sql = `INSERT INTO tokens (id, user_pk, token_hash, permissions, expires_ms)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET token_hash = excluded.token_hash,
          permissions = excluded.permissions, expires_ms = excluded.expires_ms, first_client = NULL
        WHERE user_pk = excluded.user_pk AND revoked_ms IS NULL`;
      const granted = JSON.stringify([...permissions]);
      const changes = change(world, sql, id, userPk, hash, granted, expiresAtMs);
      if (changes === 0) throw refused('This token id was used before: take a new one.');
      world.afterCommit(() => living.set(id, { userPk, hash, permissions, expiresAtMs }));
    });
    return secret;
  }

  /** Ends the wallet's token of that id for ever; does nothing where there is none. */
  function revoke(userPk: string, id: string): void {
    world.transact(() => {
      const sql =
        'UPDATE tokens SET revoked_ms = ? WHERE id = ? AND user_pk = ? AND revoked_ms IS NULL';
      change(world, sql, world.clock.now(), id, userPk);
      world.afterCommit(() => {
        if (living.get(id)?.userPk === userPk) living.delete(id);
      });
    });
  }

  /** The access of a token of the wallet, which is asked for at each call: a changed grant replaces it. */
  function accessOf(userPk: string, token: () => ClientToken): Access {
    // Remembers the last accepted text, so that not every call must hash it.
    let proved: { readonly text: string; readonly token: Token } | null = null;
    const current = (): Token => {
      const { id, token: text } = token();
      const found = living.get(id);
      if (found === undefined || found.userPk !== userPk || isOver(found)) throw endedCredentials();
      if (proved?.token !== found || proved.text !== text) {
        if (!timingSafeEqual(hashOf(text), found.hash)) throw endedCredentials();
        proved = { text, token: found };
      }
      return found;
    };
    return {
      require(...oneOf) {
        const { permissions } = current();
        const [first] = oneOf;
        if (first === undefined || oneOf.some((one) => permissions.has(one))) return;
        throw lacking(first);
      },
      requireAll(all) {
        const { permissions } = current();
        const missing = all.find((one) => !permissions.has(one));
        if (missing !== undefined) throw lacking(missing);
      },
    };
  }

  return {
    issue,
    revoke,
    /** Ids of the wallet's tokens that are neither revoked nor expired. */
    list: (userPk: string): string[] =>
      [...living].filter(([, one]) => one.userPk === userPk && !isOver(one)).map(([id]) => id),
    accessOf,
  };
}

function lacking(permission: Permission): ApiError {
  return new ApiError('forbidden', `The node refused: the credentials lack ${permission}.`, {
    data: { permission },
  });
}
