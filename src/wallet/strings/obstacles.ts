import type { DecodedAddress } from '../../codecs/address.ts';
import type { Bolt11Invoice } from '../../codecs/bolt11/index.ts';
import { type Offer, offerUnpayableReason } from '../../codecs/bolt12/index.ts';
import { NETWORKS } from '../../codecs/network.ts';
import { refused } from '../../model/errors.ts';
import type { WalletNode } from '../../nodes/node.ts';

/** The reason why the node cannot pay the invoice with any amount, or null (docs/decisions.md 95). */
export function invoiceObstacle(invoice: Bolt11Invoice, node: WalletNode): string | null {
  return invoiceNetworkObstacle(invoice, node) ?? invoiceExpiryObstacle(invoice, node);
}

/** Returns why an invoice of another network cannot be paid; null where it is of the node's own. */
export function invoiceNetworkObstacle(invoice: Bolt11Invoice, node: WalletNode): string | null {
  const { network } = node.descriptor;
  if (invoice.network === network) return null;
  return `The invoice is for ${invoice.network} and this wallet's node is on ${network}.`;
}

/** Returns why an invoice cannot be paid any more, by the clock of the node; null where it can. */
export function invoiceExpiryObstacle(invoice: Bolt11Invoice, node: WalletNode): string | null {
  if (invoice.expiresAtMs <= node.clock.now()) {
    return 'The invoice has expired: ask the receiver for a new one.';
  }
  return null;
}

/** Returns the reason why the node cannot pay the offer with any amount, or null when it can (docs/decisions.md 95). */
export function offerObstacle(offer: Offer, node: WalletNode): string | null {
  const { kind } = node.descriptor;
  if (!node.offers) return `This wallet's node (${kind}) cannot pay offers.`;
  if (node.offers.kind === 'whole' && offer.currency !== null) {
    return `This wallet's node (${kind}) cannot pay an offer with a price in ${offer.currency}: ask the receiver for one without.`;
  }
  return offerUnpayableReason(offer, {
    chainHash: NETWORKS[node.descriptor.network].chainHash,
    nowSecs: Math.floor(node.clock.now() / 1000),
  });
}

/** Returns the reason why the node cannot pay the address, or null when it can (docs/decisions.md 95). */
export function addressObstacle(address: DecodedAddress, node: WalletNode): string | null {
  if (!node.onchain) return `This wallet's node (${node.descriptor.kind}) cannot pay on chain.`;
  return addressNetworkObstacle(address, node);
}

/** Returns why an address of another network cannot be paid; null where it is of the node's own. */
export function addressNetworkObstacle(
  { networks }: DecodedAddress,
  node: WalletNode,
): string | null {
  const { network } = node.descriptor;
  if (networks.includes(network)) return null;
  return `The address is for ${networks.join(' or ')} and this wallet's node is on ${network}.`;
}

/** Throws `refused` (error 106) with that reason, where there is one. */
export function requireNone(obstacle: string | null): void {
  if (obstacle !== null) throw refused(obstacle);
}
