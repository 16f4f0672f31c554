import { expect, setDefaultTimeout, test } from 'bun:test';
import { follow, known, lightningId, payCommand, questionOf } from '../contracts/node/steps.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { describeNetwork, LndRestError } from './harness/index.ts';
import { lndNode } from './kinds.ts';
import { openConnector } from './node-world.ts';
import { lndPayments, outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Races of two programs that pay one invoice; INTEROP_RACES=500 is the long run. */
const RACES = Number(process.env.INTEROP_RACES ?? 30);
/** By how much the other program is later than ours, in milliseconds. Most of them meet within a few. */
const LATER_MS = [-12, -6, -3, -1, 0, 1, 2, 3, 4, 6, 8, 10, 15] as const;
const LONG_MS = 1_200_000;
const ALREADY_EXISTS = 6;

describeNetwork('two programs that pay one invoice at a real LND', (network) => {
  test(
    `are told apart: one pays it, and the report says whose payment that is (${RACES} races)`,
    async () => {
      const { alice, bob } = network();
      const entry = await lndNode(alice).entry();
      const connector = openConnector(network(), [entry]);
      const { node } = await connector.connectConfigured(entry);
      const feed = follow(node);
      await until(feed.isCaughtUp, 'the feed has caught up');

      /** Whether the other program's request made the payment. */
      async function theyPay(invoice: string): Promise<boolean> {
        const body = { payment_request: invoice, fee_limit_msat: '1000', timeout_seconds: 30 };
        try {
          await Array.fromAsync(alice.stream('POST', '/v2/router/send', body));
          return true;
        } catch (error) {
          if (!(error instanceof LndRestError)) throw error;
          expect(error.body).toMatchObject({ error: { code: ALREADY_EXISTS } });
          return false;
        }
      }

      const seen = { known: 0, taken: 0, withheld: 0 };
      try {
        for (let race = 0; race < RACES; race++) {
          const laterMs = LATER_MS[race % LATER_MS.length] ?? 0;
          const { invoice, hash } = await outsider(bob).invoice({ value_msat: '10000' });
          const afterAttempt = await node.newestAttempt(lightningId(hash));
          expect(afterAttempt).toBe(0);
          const command = payCommand(node, invoice);
          const theirs = Bun.sleep(Math.max(0, laterMs)).then(() => theyPay(invoice));
          if (laterMs < 0) await Bun.sleep(-laterMs);
          const before = feed.observations.length;
          const report = await node.payInvoice(command);
          const told = feed.observations
            .slice(before)
            .filter(({ payment }) => payment.hash === hash);
          const isTheirs = await theirs;

          expect([race, report.state]).toEqual([race, isTheirs ? 'taken' : 'known']);
          const attempt = 'attempt' in report ? report.attempt : null;
          seen[isTheirs ? 'taken' : 'known']++;
          if (told.length === 0) seen.withheld++;
          const [payment, ...more] = await waitUntil('it has ended', async () => {
            const own = await lndPayments(alice, hash);
            return own.every(({ status }) => status === 'SUCCEEDED') && own;
          });
          expect(more).toEqual([]);
          expect(attempt).toBe(Number(BigInt(payment?.creation_time_ns ?? 0) / 1000n));
          expect((await feed.shows(hash, 'completed')).attempt).toBe(attempt);
          const { amt_paid_msat } = await bob.rest<{ amt_paid_msat: string }>(
            'GET',
            `/v1/invoice/${hash}`,
          );
          expect(amt_paid_msat).toBe('10000');
          // A request that is sent again finds the payment, and may be the one that made it.
          const again = await node.payInvoice({ ...command, isRepeat: true });
          expect(known(again)).toMatchObject({ attempt, payment: { index: command.index } });
          const { payment: own } = known(again);
          const other = questionOf({ ...own, amountMsat: 10_001n }, { afterAttempt });
          expect(await node.sendOutcome(other)).toMatchObject({ state: 'taken', attempt });
        }
      } finally {
        await feed.end();
        await connector.close();
      }
      console.log(
        `Two payers on LND ${network().version}: ${seen.known} times ours, ${seen.taken} times theirs, ` +
          `told of in between ${RACES - seen.withheld} times.`,
      );
    },
    LONG_MS,
  );
});
