import { decodeAddress } from '../../../src/codecs/address.ts';
import { openCln } from '../../../src/nodes/cln/index.ts';
import type { NodeWorld } from '../../contracts/node/kind.ts';
import { makeOffer } from '../../support/bolt12-fixtures.ts';
import { freePort } from '../../support/ports.ts';
import { remoteOptions, SOME_PEER } from '../../support/remote-options.ts';
import { FakeError, fakeChain, THEIR_ADDRESS } from './fake-chain.ts';
import { withChannels } from './fake-channels.ts';
import { FakeCln, refusal } from './fake-cln.ts';
import { withOffers } from './fake-offers.ts';
import { withPayments } from './fake-payments.ts';
import { OWNER_RUNE, withRunes } from './fake-runes.ts';

/** What the wallet holds on chain at the start: coins of that many satoshis. */
const COINS_SAT = [1_000_000n, 2_000_000n, 3_000_000n];

/** A whole Core Lightning of fakes, with everything that the contract of nodes needs around it. */
export async function openFakeNode(): Promise<NodeWorld> {
  let offsetMs = 0;
  const nowMs = () => Date.now() + offsetMs;
  const cln = new FakeCln(() => Math.floor(nowMs() / 1000), freePort());
  const chain = fakeChain();
  const { outside, receiver, channel } = withPayments(cln);
  withRunes(cln);
  withOffers(cln, chain.wallet.nodePk, () => receiver('settle'));
  for (const [method, answer] of Object.entries(chain.answers)) {
    // The moves are numbered for those who wait for them.
    if (method === 'listchainmoves') continue;
    cln.on(method, async (params) => {
      try {
        return Response.json(await answer(params), { status: 201 });
      } catch (error) {
        if (error instanceof FakeError) return refusal(error.code, error.message);
        throw error;
      }
    });
  }
  withChannels(cln, chain, channel);

  const mine = async (blocks: number) => {
    for (let block = 0; block < blocks; block += 1) {
      chain.mine(...chain.unconfirmed());
      for (const one of chain.state.channels) {
        if (one.state === 'CHANNELD_AWAITING_LOCKIN') one.state = 'CHANNELD_NORMAL';
      }
      for (const move of chain.moves.slice(cln.chainmoves.numbers.created)) {
        cln.chainmoves.add(move);
      }
    }
  };
  for (const sat of COINS_SAT) chain.receive(sat);
  await mine(1);

  const entry = {
    kind: 'cln' as const,
    url: cln.url,
    cert: cln.cert,
    nodePk: chain.wallet.nodePk,
    network: 'regtest' as const,
    token: OWNER_RUNE,
  };
  const options = { clock: { now: nowMs }, channelPeer: SOME_PEER };
  const connector = openCln(remoteOptions([entry], options));
  return {
    connector,
    openOwner: () => connector.connectConfigured(entry),
    outside: {
      ...outside,
      paysHeld: () => Promise.reject(new Error('Core Lightning holds no invoices.')),
      address: () => THEIR_ADDRESS,
      async sendsCoins(address, amountMsat) {
        chain.receive(amountMsat / 1000n, decodeAddress(address).scriptPubKey);
        await mine(1);
      },
      mine,
      async advanceClock(secs) {
        offsetMs += secs * 1000;
        for (const { payment_hash, status, expires_at } of cln.invoices.rows) {
          const isOver = status === 'unpaid' && Number(expires_at) <= cln.nowSecs();
          if (isOver) cln.expire(String(payment_hash));
        }
      },
      offer: async () => makeOffer().text,
      cut: { away: () => cln.away(), back: () => cln.back() },
    },
    async close() {
      await connector.close();
      await cln.stop();
    },
  };
}
