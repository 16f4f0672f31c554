import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import { ApiError } from '../../../../src/model/errors.ts';
import { isFinal, type Payment } from '../../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import type { WalletNode } from '../../../../src/nodes/node.ts';
import { removeFolder, temporaryFolder } from '../../../support/folder.ts';
import { rounds } from '../../../support/rounds.ts';
import { openTrialSandbox } from '../../../support/trial-sandbox.ts';

const folder = temporaryFolder('property');
afterAll(() => removeFolder(folder));

const step = fc.oneof(
  fc.record({ do: fc.constant('invoice' as const), amount: fc.bigInt(1n, 3_000_000_000n) }),
  fc.record({ do: fc.constant('pay' as const), which: fc.nat(20) }),
  fc.record({
    do: fc.constant('payOutside' as const),
    amount: fc.bigInt(1n, 3_000_000_000n),
    behavior: fc.constantFrom('settle', 'fail', 'hold'),
  }),
  fc.record({ do: fc.constant('decide' as const), which: fc.nat(20), settle: fc.boolean() }),
  fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('arrive' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('fund' as const), amount: fc.bigInt(1n, 5_000_000n) }),
  fc.record({ do: fc.constant('clock' as const), secs: fc.nat(400) }),
  fc.record({ do: fc.constant('mine' as const), count: fc.nat(60) }),
  fc.record({ do: fc.constant('open' as const), sats: fc.bigInt(20_000n, 90_000n) }),
  fc.record({ do: fc.constant('close' as const), which: fc.nat(5) }),
);

test('under any sequence of operations money is conserved and no payment leaves a terminal state', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const path = join(folder, `${runs++}.sqlite`);
      let nowMs = 1_800_000_000_000;
      const sandbox = openTrialSandbox(path, { now: () => ++nowMs });
      const ledger = new Database(path, { readonly: true });
      const [alice, bob] = [
        await sandbox.controls.createWallet(),
        await sandbox.controls.createWallet(),
      ];
      const nodeOf = async (wallet: { rootSeed: string }) =>
        (await sandbox.connector.connectRoot(Buffer.from(wallet.rootSeed, 'hex'))).node;
      const nodes = { alice: await nodeOf(alice), bob: await nodeOf(bob) };
      const invoices: { text: string; payment: Payment }[] = [];
      const held: string[] = [];
      const final = new Map<string, string>();

      const pay = async (text: string, amountMsat: bigint) => {
        const invoice = decodeBolt11(text);
        const createdAtMs = ++nowMs;
        const index = paymentIndex(createdAtMs, paymentId('ln', invoice.paymentHash));
        await nodes.bob.payInvoice({
          index,
          createdAtMs,
          amountMsat,
          maxFeeMsat: amountMsat,
          invoice,
          personalNote: null,
          externalId: null,
          message: null,
        });
      };
      const one = async (now: (typeof steps)[number]) => {
        switch (now.do) {
          case 'invoice': {
            const made = await nodes.alice.createInvoice({
              createdAtMs: ++nowMs,
              expirationSecs: 300,
              amountMsat: now.amount,
              description: null,
              descriptionHash: null,
              personalNote: null,
              externalId: null,
              message: null,
              // The partner is in turn a wallet of this sandbox and an unknown one.
              partnerPk: invoices.length % 2 === 0 ? bob.userPk : 'cd'.repeat(32),
              partnerPropFeePpm: 5000,
              partnerBaseFeeMsat: null,
              preimage: null,
            });
            invoices.push({ text: made.invoice, payment: made.payment });
            return;
          }
          case 'pay': {
            const chosen = invoices[now.which % Math.max(invoices.length, 1)];
            return chosen && pay(chosen.text, chosen.payment.amountMsat ?? 1n);
          }
          case 'payOutside': {
            const { behavior, amount } = now;
            const { invoice, paymentHash } = await sandbox.controls.createInvoice({
              amountMsat: amount,
              description: null,
              expirationSecs: 300,
              behavior: behavior as 'settle' | 'fail' | 'hold',
            });
            if (behavior === 'hold') held.push(paymentHash);
            return pay(invoice, amount);
          }
          case 'decide': {
            const paymentHash = held[now.which % Math.max(held.length, 1)];
            return paymentHash === undefined
              ? undefined
              : sandbox.controls.decideHold({ paymentHash, settle: now.settle });
          }
          case 'cancel': {
            const chosen = invoices[now.which % Math.max(invoices.length, 1)];
            return chosen && nodes.alice.cancelInvoice(chosen.payment.index);
          }
          case 'arrive': {
            const chosen = invoices[now.which % Math.max(invoices.length, 1)];
            return (
              chosen &&
              sandbox.controls.pay({
                payable: chosen.text,
                amountMsat: null,
                message: null,
                payerName: null,
              })
            );
          }
          case 'fund':
            return sandbox.controls.fund(bob.userPk, { amountMsat: now.amount, rail: 'lightning' });
          case 'clock':
            return sandbox.controls.advanceClock(now.secs);
          case 'open':
            return nodes.bob.channels?.openChannel({
              valueMsat: now.sats * 1000n,
              userChannelId: randomBytes(16).toString('hex'),
              peer: null,
              maxFeeMsat: null,
            });
          case 'close': {
            const channels = (await nodes.bob.channels?.listChannels()) ?? [];
            const chosen = channels[now.which % Math.max(channels.length, 1)];
            return (
              chosen &&
              nodes.bob.channels?.closeChannel(chosen.channelId, {
                forced: false,
                maxFeeMsat: null,
              })
            );
          }
          case 'mine':
            return sandbox.controls.mine(now.count);
        }
      };
      for (const now of steps) {
        try {
          await one(now);
        } catch (error) {
          // A refusal is a valid result; any other error is a defect.
          if (!(error instanceof ApiError)) throw error;
        }
        await Bun.sleep(0);
        expectConserved(ledger);
        await expectTerminal([nodes.alice, nodes.bob], final);
      }
      ledger.close();
      await sandbox.connector.close();
    }),
    { numRuns: rounds(8, 40) },
  );
}, 120_000);

function expectConserved(ledger: Database): void {
  const sum = ledger.query('SELECT CAST(sum(balance_msat) AS TEXT) AS sum FROM accounts').get();
  expect(sum).toMatchObject({ sum: '0' });
  const overdrawn = ledger
    .query(
      "SELECT account FROM accounts WHERE balance_msat < 0 AND (account LIKE 'wallet:%' OR account LIKE 'channel:%' OR account LIKE 'htlc:%')",
    )
    .all();
  expect(overdrawn).toEqual([]);
}

async function expectTerminal(
  nodes: readonly WalletNode[],
  final: Map<string, string>,
): Promise<void> {
  for (const [at, node] of nodes.entries()) {
    for (const payment of (await node.history?.updatedAfter(null, 1000)) ?? []) {
      const key = `${at} ${payment.index}`;
      const before = final.get(key);
      if (before !== undefined) expect(payment.status as string).toBe(before);
      if (isFinal(payment)) final.set(key, payment.status);
    }
  }
}
