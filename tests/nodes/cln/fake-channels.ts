import { type FakeChain, OURS, THEIR_SCRIPT } from './fake-chain.ts';
import type { FakeCln } from './fake-cln.ts';
import { idOf, spendingTransaction } from './transactions.ts';

/** What opening and closing a channel costs, in satoshis. */
const FEE_SAT = 150n;

interface Channel extends Record<string, unknown> {
  readonly channel_id: string;
  readonly total_msat: number;
}

/** Has a fake open channels from coins of its chain, and close them. `payChannel` is one that it has already. */
export function withChannels(cln: FakeCln, chain: FakeChain, payChannel: () => object): void {
  const ok = (body: unknown) => Response.json(body, { status: 201 });
  const coinsOf = (utxos: readonly string[]) =>
    chain.coins.filter(({ txid, output }) => utxos.includes(`${txid}:${output}`));

  cln.on('listpeerchannels', () => ok({ channels: [payChannel(), ...chain.state.channels] }));
  cln.on('fundchannel', ({ id, amount, utxos }) => {
    const outpoints = utxos as string[];
    const coins = coinsOf(outpoints);
    const sat = BigInt(String(amount).replace('sat', ''));
    const change = coins.reduce((sum, coin) => sum + coin.sat, -sat - FEE_SAT);
    const raw = spendingTransaction(outpoints, [
      { script: THEIR_SCRIPT, amount: sat },
      { script: OURS, amount: change },
    ]);
    const channel_id = chain.publish(raw);
    for (const coin of coins) coin.reservedTo = chain.state.height + 2016;
    chain.state.channels.push({
      peer_id: id,
      peer_connected: true,
      state: 'CHANNELD_AWAITING_LOCKIN',
      opener: 'local',
      channel_id,
      funding_txid: channel_id,
      funding_outnum: 0,
      total_msat: Number(sat * 1000n),
      to_us_msat: Number(sat * 1000n),
      htlcs: [],
    });
    return ok({ channel_id });
  });
  cln.on('close', ({ id }) => {
    const channel = (chain.state.channels as Channel[]).find((one) => one.channel_id === id);
    if (channel === undefined) throw new Error(`no channel ${id}`);
    const amount = BigInt(channel.total_msat) / 1000n - FEE_SAT;
    const raw = spendingTransaction([`${channel.channel_id}:0`], [{ script: OURS, amount }]);
    chain.publish(raw);
    Object.assign(channel, { state: 'CLOSINGD_COMPLETE' });
    return ok({ type: 'mutual', txid: idOf(raw), txs: [raw] });
  });
}
