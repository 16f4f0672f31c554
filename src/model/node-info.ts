import { z } from 'zod';
import { once } from '../lib/once.ts';
import { amountOutput, formatAmountMsat } from './amount.ts';
import { hexOutput } from './text.ts';

/** The state of the node in an answer (docs/api.md, Node info). */
export const nodeInfoJson = once(() =>
  z
    .object({
      version: z.string().describe('Semver version of the node software.'),
      measurement: hexOutput(32).describe(
        'SHA-256 that identifies the build of the node software.',
      ),
      user_pk: hexOutput(32).describe(
        'Ed25519 public key of the wallet, derived from its root seed.',
      ),
      node_pk: hexOutput(33).describe('The node id: its secp256k1 public key.'),
      balance: amountOutput().describe('`lightning_balance` plus `onchain_balance`, in sats.'),
      lightning_balance: amountOutput().describe('In all channels together, in sats.'),
      lightning_sendable_balance: amountOutput().describe(
        'Estimate in sats of what can be sent to most recipients, after reserves, pending payments and fees.',
      ),
      lightning_max_sendable_balance: amountOutput().describe(
        'Hard upper bound of what can be sent now, in sats.',
      ),
      onchain_balance: amountOutput().describe(
        'All on-chain funds, unconfirmed ones included, in sats.',
      ),
      onchain_trusted_balance: amountOutput().describe(
        "Confirmed funds, and unconfirmed outputs of the wallet's own transactions, in sats.",
      ),
      num_channels: z.int().min(0).describe('Channels in all.'),
      num_usable_channels: z
        .int()
        .min(0)
        .describe('Channels that are ready and whose peer is online.'),
    })
    .meta({ id: 'NodeInfo', description: 'The wallet node and its balances.' }),
);
type NodeInfoJson = z.infer<ReturnType<typeof nodeInfoJson>>;

/** The state of the node inside this program; amounts in millisatoshis. */
export interface NodeInfo {
  readonly version: string;
  /** Hex SHA-256 that identifies the build of the node's software (docs/decisions.md 79). */
  readonly measurement: string;
  readonly userPk: string;
  readonly nodePk: string;
  readonly lightningBalanceMsat: bigint;
  /** An estimate of the most that can be sent to most payees now. */
  readonly lightningSendableMsat: bigint;
  /** The most that can be sent now at all; at least {@link lightningSendableMsat}. */
  readonly lightningMaxSendableMsat: bigint;
  readonly onchainBalanceMsat: bigint;
  /** Confirmed funds plus unconfirmed outputs of the wallet's own transactions. */
  readonly onchainTrustedMsat: bigint;
  readonly numChannels: number;
  readonly numUsableChannels: number;
}

/** Writes the state of the node in the form of answers, where `balance` is the sum of the two balances. */
export function encodeNodeInfo(info: NodeInfo): NodeInfoJson {
  return {
    version: info.version,
    measurement: info.measurement,
    user_pk: info.userPk,
    node_pk: info.nodePk,
    balance: formatAmountMsat(info.lightningBalanceMsat + info.onchainBalanceMsat),
    lightning_balance: formatAmountMsat(info.lightningBalanceMsat),
    lightning_sendable_balance: formatAmountMsat(info.lightningSendableMsat),
    lightning_max_sendable_balance: formatAmountMsat(info.lightningMaxSendableMsat),
    onchain_balance: formatAmountMsat(info.onchainBalanceMsat),
    onchain_trusted_balance: formatAmountMsat(info.onchainTrustedMsat),
    num_channels: info.numChannels,
    num_usable_channels: info.numUsableChannels,
  };
}
