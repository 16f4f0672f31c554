import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { amountInput, amountOutput, formatNullableAmountMsat } from '../amount.ts';
import { addition, hexOutput, nameInput, timestamp } from '../text.ts';
import { type BudgetJson, budgetJson } from './budget.ts';
import {
  effectivePermissions,
  PERMISSIONS,
  type Permission,
  SCOPE_NAMES,
  type Scope,
} from './permissions.ts';

/** The id of the owner among the callers of a wallet; that of a client is its public key. */
export const OWNER_CALLER = 'owner';
/** The most UTF-8 bytes of a client's label (docs/api.md, Limits). */
const LABEL_MAX_BYTES = 64;
/** The most active clients of a wallet (docs/decisions.md 61). */
export const MAX_ACTIVE_CLIENTS = 100;

const scopesField = once(() => z.array(z.enum(SCOPE_NAMES)));
const permissionsField = once(() => z.array(z.enum(PERMISSIONS as [Permission, ...Permission[]])));

/** All permissions of a client, in an answer. */
export const effectivePermissionsField = once(() =>
  permissionsField().describe('All that it may do.'),
);

/** Scopes in a request. */
export const scopesInput = once(() =>
  scopesField().meta({
    description: 'Scopes to grant; their permissions are added up.',
    examples: [['read_info', 'receive']],
  }),
);
/** Single permissions in a request. */
export const permissionsInput = once(() =>
  permissionsField().describe(
    'Permissions to grant besides. Their names may change: prefer scopes.',
  ),
);
/** A client's label in a request. */
export const labelInput = once(() => nameInput(LABEL_MAX_BYTES).describe('Name for people.'));

/** What a payment of a client may cost before it waits for approval, in a request. */
export const approveAboveInput = once(() =>
  amountInput().meta(addition('Sats, fees included, above which a payment waits for approval.')),
);

/** Whether a client sees only what it made, in a request. */
export const ownInput = once(() =>
  z.boolean().meta(addition('Sees only what it made, and no balance.')),
);

/** A client in an answer (docs/api.md, Client info). */
export const clientInfoJson = once(() =>
  z
    .object({
      client_pk: hexOutput(32)
        .nullable()
        .describe('Ed25519 public key of the client; null for the root seed.'),
      created_at: timestamp()
        .nullable()
        .describe('When it was created, in milliseconds; null for the root seed.'),
      expires_at: timestamp()
        .nullable()
        .describe('When it expires, in milliseconds; null for never.'),
      label: z.string().nullable().describe('Name for people.'),
      scopes: scopesField().describe('Scopes granted.'),
      permissions: permissionsField().describe('Permissions granted besides the scopes.'),
      effective_permissions: effectivePermissionsField(),
      budget: budgetJson().nullable().meta(addition('What it may spend; null for no limit.')),
      approve_above: amountOutput()
        .nullable()
        .meta(
          addition('Sats, fees included, above which a payment waits for approval; null for none.'),
        ),
      origins: z
        .array(z.string())
        .nullable()
        .meta(addition('The web origins that `fetch` may ask; null for any.')),
      own: z.boolean().meta(addition('Sees only what it made, and no balance.')),
    })
    .meta({ id: 'ClientInfo', description: 'A client credential: who it is and what it may do.' }),
);
export type ClientInfoJson = z.infer<ReturnType<typeof clientInfoJson>>;

/** The scopes and single permissions that a client was granted (docs/decisions.md 59). */
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
  /**
   * A payment that may cost more than this with its fees, in millisatoshis, waits for approval; null for none
   * (docs/decisions.md 187).
   */
  readonly approveAboveMsat: bigint | null;
  /**
   * The web origins that it may fetch from; null for any. Where its parent was left with none of them, there are none
   * (docs/decisions.md 189).
   */
  readonly origins: readonly string[] | null;
  /** Whether it sees only what it made (docs/decisions.md 195). */
  readonly own: boolean;
}

/**
 * Whether a client has a budget (`set`) or had one (`lifted`). A client with either state cannot grant permissions that
 * spend (docs/decisions.md 68).
 */
export type BudgetState = 'none' | 'set' | 'lifted';

/** A client as the store keeps it. The store has only a hash of its secret (docs/decisions.md 55). */
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
    /**
     * Whether the client's holder has the token too, as in version 0.1. Such a token must be replaced before it is used
     * (docs/decisions.md 57).
     */
    readonly exposed: boolean;
  } | null;
  /** Ids of tokens that still have to be ended at the node. */
  readonly endedTokenIds: readonly string[];
}

/** Returns whether a client is neither revoked nor expired at `nowMs`. */
export function isActive(
  client: Pick<Client, 'revokedAtMs' | 'expiresAtMs'>,
  nowMs: number,
): boolean {
  return client.revokedAtMs === null && (client.expiresAtMs === null || client.expiresAtMs > nowMs);
}

/** Writes a client in the form of answers. */
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
    approve_above: formatNullableAmountMsat(client.approveAboveMsat),
    origins: client.origins && [...client.origins],
    own: client.own,
  };
}
