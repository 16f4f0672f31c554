import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { openLog } from '../../../src/lib/log.ts';
import type { CreatedInvoice, CreateInvoiceCommand } from '../../../src/nodes/node.ts';
import { type Names, openNames } from '../../../src/wallet/names/names.ts';
import { fittingInvoice, NODE_PK } from '../../support/fitting.ts';
import { walletWorld } from '../wallet-world.ts';

/** Names over a fake node with enough money, which makes invoices as they are ordered. */
export async function namesWorld() {
  const world = await walletWorld();
  const { fake, store } = world;
  const { wallets, owner } = await world.start();
  const ordered: CreateInvoiceCommand[] = [];
  const logged: string[] = [];
  const node = {
    /** May be replaced by a test. */
    createInvoice: async (command: CreateInvoiceCommand): Promise<CreatedInvoice> => made(command),
    offers: [] as string[],
  };
  Object.assign(fake.node, {
    info: async () => ({
      nodePk: NODE_PK,
      lightningBalanceMsat: 6_000_000n,
      onchainBalanceMsat: 4_000_000n,
    }),
    createInvoice: (command: CreateInvoiceCommand) => {
      ordered.push(command);
      return node.createInvoice(command);
    },
  });
  let drawn = 0;
  const names: Names = openNames({
    domain: 'example.com',
    callbackUrl: (username) => `https://example.com/${username}/callback`,
    store,
    wallets,
    log: openLog({ level: 'warn', format: 'text', write: (line) => logged.push(line) }),
    random: (bytes) => new Uint8Array(bytes).fill(++drawn),
    elapsedMs: () => world.elapsedMs,
  });
  return { world, fake, store, owner, names, node, ordered, logged };
}

/** The invoice that the fake node makes for an order. */
export function made(command: CreateInvoiceCommand): CreatedInvoice {
  const paymentHash = hex.encode(sha256(hex.decode(command.preimage ?? '')));
  return fittingInvoice(command, paymentHash);
}
