import { z } from 'zod';
import { type BudgetJson, budgetJson } from './budget.ts';
import {
  effectivePermissions,
  PERMISSIONS,
  type Permission,
  SCOPE_NAMES,
  type Scope,
} from './permissions.ts';
import { hexOutput, textLimits, timestamp } from './text.ts';

/** Most UTF-8 bytes of a client's label (contract, Limits). */
const LABEL_MAX_BYTES = 64;
/** Most active clients of a wallet (decisions section 7). */
export const MAX_ACTIVE_CLIENTS = 100;

const scopesField = z.array(z.enum(SCOPE_NAMES));
const permissionsField = z.array(z.enum(PERMISSIONS as [Permission, ...Permission[]]));

/** Everything a client may do, in an answer. */
export const effectivePermissionsField = permissionsField.meta({
  description: 'Everything it may do: the permissions of its scopes, and the explicit ones.',
});

/** Scope aliases in a request. */
export const scopesInput = scopesField.meta({
  description: 'Scopes to grant; their permissions are added up.',
  examples: [['read_info', 'receive']],
});
/** Explicit permission ids in a request. */
export const permissionsInput = permissionsField.meta({
  description: 'Permissions to grant besides. Their names may change: prefer scopes.',
});
/** A client's label in a request. */
export const labelInput = z
  .string()
  .refine((text) => text.isWellFormed() && Buffer.byteLength(text) <= LABEL_MAX_BYTES, {
    message: `must be Unicode text of at most ${LABEL_MAX_BYTES} UTF-8 bytes`,
  })
  .meta({
    description: 'Name for people.',
    ...textLimits({ characters: LABEL_MAX_BYTES, bytes: LABEL_MAX_BYTES }),
  });

/** The Client info resource (contract, Client info); `budget` is an addition. */
export const clientInfoJson = z
  .object({
    client_pk: hexOutput(32)
      .nullable()
      .meta({ description: 'Ed25519 public key of the client; null for the root seed.' }),
    created_at: timestamp
      .nullable()
      .meta({ description: 'When it was created, in milliseconds; null for the root seed.' }),
    expires_at: timestamp
      .nullable()
      .meta({ description: 'When it expires, in milliseconds; null for never.' }),
    label: z.string().nullable().meta({ description: 'Name for people, where one was given.' }),
    scopes: scopesField.meta({ description: 'Scopes granted.' }),
    permissions: permissionsField.meta({
      description: 'Permissions granted besides the scopes; each is for one kind of request.',
    }),
    effective_permissions: effectivePermissionsField,
    budget: budgetJson
      .nullable()
      .meta({ description: 'What it may spend; null for no limit. Addition.' }),
  })
  .meta({ id: 'ClientInfo', description: 'A client credential: who it is and what it may do.' });
export type ClientInfoJson = z.infer<typeof clientInfoJson>;

/** What a client may do, as it was granted. */
export interface Grant {
  readonly scopes: readonly Scope[];
  readonly permissions: readonly Permission[];
}

/** A client of a wallet inside this program. */
export interface Client extends Grant {
  /** Hex ed25519 public key. */
  readonly clientPk: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly label: string | null;
  readonly revokedAtMs: number | null;
}

/** Whether a client has a budget, or had one: either way it grants nothing that spends (decisions section 7). */
export type BudgetState = 'none' | 'set' | 'lifted';

/** A client as the store keeps it. Its secret is known to its holder alone. */
export interface ClientRecord extends Client {
  /** Hex user_pk. */
  readonly walletId: string;
  /** The kind of the wallet's node, such as `sandbox`. */
  readonly nodeKind: string;
  /** The client that created this one; null when the wallet's owner did. */
  readonly parentPk: string | null;
  /** Hex SHA-256 of the secret. */
  readonly secretHash: string;
  readonly budgetState: BudgetState;
  /** The node's own token for this client; null while none is made. */
  readonly token: {
    readonly id: string;
    readonly token: string;
    /** Whether the client's holder has the token too (first version): it must be replaced before it is used. */
    readonly exposed: boolean;
  } | null;
  /** Identities of tokens that still have to be ended at the node. */
  readonly endedTokenIds: readonly string[];
}

/** Neither revoked nor expired at `nowMs`. */
export function isActive(
  client: Pick<Client, 'revokedAtMs' | 'expiresAtMs'>,
  nowMs: number,
): boolean {
  return client.revokedAtMs === null && (client.expiresAtMs === null || client.expiresAtMs > nowMs);
}

/** Writes a client as answers carry it. */
export function encodeClient(client: Client, budget: BudgetJson | null): ClientInfoJson {
  return {
    client_pk: client.clientPk,
    created_at: client.createdAtMs,
    expires_at: client.expiresAtMs,
    label: client.label,
    scopes: [...client.scopes],
    permissions: [...client.permissions],
    effective_permissions: effectivePermissions(client.scopes, client.permissions),
    budget,
  };
}
