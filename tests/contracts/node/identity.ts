import { expect } from 'bun:test';
import type { Permission } from '../../../src/model/clients/permissions.ts';
import { isApiError } from '../../../src/model/errors.ts';
import type { NodeTokens } from '../../../src/nodes/node.ts';
import type { Rules } from './kind.ts';
import { ended, invoiceCommand, known, payCommand, randomHex } from './steps.ts';

/** Who a wallet is, and what a client's token opens. */
export function identityRules({ rule, group, world, wallet }: Rules): void {
  rule('a wallet is the same whenever it is opened, and says so', async (node) => {
    const again = await world().openOwner();
    expect(again.userPk).toBe(wallet().userPk);
    expect(again.userPk).toMatch(/^[0-9a-f]{64}$/);
    const info = await node.info();
    expect(info.userPk).toBe(wallet().userPk);
    expect(info.nodePk).toMatch(/^0[23][0-9a-f]{64}$/);
    expect((await again.node.info()).nodePk).toBe(info.nodePk);
    expect(again.node.descriptor).toEqual(node.descriptor);
  });

  rule("the owner's token opens a wallet by its id, and none that is not there", async () => {
    const { connector } = world();
    const opened = await connector.connectOwner(wallet().userPk);
    expect(opened).toMatchObject({ userPk: wallet().userPk, grant: null });
    await opened.node.createInvoice(invoiceCommand(opened.node));
    const unknown = await connector.connectOwner('cd'.repeat(32)).catch((error) => error);
    expect(isApiError(unknown, 'unreachable') || isApiError(unknown, 'refused')).toBe(true);
  });

  rule(
    'balances are those of both rails, and nothing is sendable that is not there',
    async (node) => {
      const info = await node.info();
      expect(info.lightningBalanceMsat).toBeGreaterThan(0n);
      expect(info.onchainBalanceMsat).toBeGreaterThan(0n);
      expect(info.lightningMaxSendableMsat).toBeLessThanOrEqual(info.lightningBalanceMsat);
      expect(info.lightningSendableMsat).toBeLessThanOrEqual(info.lightningMaxSendableMsat);
      expect(info.onchainTrustedMsat).toBeLessThanOrEqual(info.onchainBalanceMsat);
      expect(info.numUsableChannels).toBeLessThanOrEqual(info.numChannels);
    },
  );

  group('tokens', (tokenRule) => {
    const client = async (
      tokens: NodeTokens,
      permissions: readonly Permission[],
      expiresAtMs: number | null = null,
    ) => {
      const id = tokens.newId();
      const token = await tokens.issue({ id, permissions, expiresAtMs });
      const opened = await world().connector.connectClient(wallet().userPk, () => ({ id, token }));
      return { id, node: opened.node, userPk: opened.userPk };
    };

    tokenRule(
      "a client's token opens the wallet for what was granted and nothing else",
      async (tokens, _, outside) => {
        const { node, userPk } = await client(tokens, ['create_invoice', 'node_info']);
        expect(userPk).toBe(wallet().userPk);
        await node.createInvoice(invoiceCommand(node));
        const { invoice } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
        const report = await node.payInvoice(payCommand(node, invoice));
        expect(report.state === 'refused' && report.error.kind).toBe('forbidden');
      },
    );

    tokenRule(
      'a token that was revoked opens nothing; revoking again does nothing',
      async (tokens) => {
        const { id, node } = await client(tokens, ['create_invoice']);
        await node.createInvoice(invoiceCommand(node));
        expect(await tokens.list()).toContain(id);
        await tokens.revoke(id);
        await tokens.revoke(id);
        await tokens.revoke(tokens.newId());
        expect(await tokens.list()).not.toContain(id);
        const refusal = await node.createInvoice(invoiceCommand(node)).catch((error) => error);
        expect(isApiError(refusal, 'unauthenticated')).toBe(true);
      },
    );

    tokenRule('a token that has expired opens nothing', async (tokens, owner) => {
      const expired = client(tokens, ['create_invoice'], owner.clock.now() - 1000);
      const refusal = await expired
        .then(({ node }) => node.createInvoice(invoiceCommand(node)))
        .catch((error) => error);
      expect(isApiError(refusal, 'unauthenticated')).toBe(true);
    });

    tokenRule('a token spends what it was granted to spend', async (tokens, owner, outside) => {
      const { node } = await client(tokens, ['pay_invoice']);
      const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
      const { payment } = known(await node.payInvoice(payCommand(node, invoice)));
      expect(payment.hash).toBe(hash);
      await ended(owner, hash);
    });

    tokenRule(
      'an invoice of a preimage is made once also by a token that may only make invoices',
      async (tokens) => {
        const { node } = await client(tokens, ['create_invoice']);
        const command = invoiceCommand(node, { preimage: randomHex(32) });
        const first = await node.createInvoice(command);
        expect(await node.createInvoice(command)).toEqual(first);
      },
    );
  });
}
