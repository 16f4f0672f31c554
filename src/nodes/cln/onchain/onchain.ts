import type { DecodedAddress } from '../../../codecs/address.ts';
import { dustLimitSat } from '../../../codecs/dust.ts';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import type { PayOnchainCommand, SendReport, SignedSend } from '../../node-sends.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { nothingToSend, publishedSend } from '../../remote/orders/onchain-send.ts';
import { feeSatOf, pays, txidOf } from '../../remote/orders/psbt.ts';
import { reportOf } from '../../remote/orders/sends.ts';
import { readChain } from '../reads/chain.ts';
import {
  chooseCoins,
  outpointOf,
  readSpendable,
  startWeight,
  worthSpending,
} from '../reads/coins.ts';
import { sendSatPerKw } from '../reads/fee-rate.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnHandle, ClnOwned } from '../reads/wallet.ts';
import { anyRefusal, refusesToPublish } from '../words/certainty.ts';
import { fundedShape, psbtShape, publishedShape } from '../words/chain-wire.ts';
import { choosingAgain } from '../words/choosing-again.ts';
import { psbtOf } from './psbt.ts';
import { sendInBlock } from './send-seen.ts';
import { SIGN_TIMEOUT_MS, signedSpend, wrongTransaction } from './spend.ts';

/** Time limit of publishing, for which Core Lightning asks its Bitcoin node. */
const PUBLISH_TIMEOUT_MS = 60_000;
/**
 * Blocks for which the coins of a published transaction stay reserved, about two weeks: Bitcoin nodes drop a
 * transaction that is not confirmed by then. Core Lightning would otherwise spend the coins once more after some hours.
 */
const PUBLISHED_BLOCKS = 2016;

type SendTerms = Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>;

/**
 * Chooses and reserves coins, checks the fee and signs; see `NodeOnchain.sign`. Coins are chosen by one send at a time,
 * so that two of them do not choose the same, and again where another program was faster.
 */
export function signSend(
  { rpc, owner, wallet }: ClnHandle,
  command: PayOnchainCommand,
): Promise<SignedSend> {
  const { address, amountMsat, maxFeeMsat } = command;
  const amountSat = wholeSats(amountMsat);
  const make = async () => {
    const { coins, feeSat, satPerKw } = await chosenFor({ owner, wallet }, command);
    requireFeeWithin('send', feeSat * MSAT_PER_SAT, maxFeeMsat);
    const request = {
      outputs: [{ [address.canonical]: `${amountSat}sat` }],
      feerate: `${satPerKw}perkw`,
      utxos: coins.map(outpointOf),
    };
    return signedSpend(rpc, owner, {
      coins,
      prepare: () =>
        rpc.write('txprepare', request, psbtShape, {
          timeoutMs: SIGN_TIMEOUT_MS,
          certainty: anyRefusal,
        }),
      check(prepared) {
        if (!pays(prepared, address.canonical, amountSat, wallet.network)) throw wrongTransaction();
        requireFeeWithin('send', prepared.feeSat * MSAT_PER_SAT, maxFeeMsat);
      },
    });
  };
  return wallet.locks.run('coins', async () => {
    requireNotDust(address, amountSat);
    return choosingAgain(make);
  });
}

/** See `NodeOnchain.publish`. Only the node's own list says whether the network has it; no error does. */
export async function publishSend(
  { rpc, owner, wallet }: ClnHandle,
  command: PayOnchainCommand,
  signed: SignedSend,
): Promise<SendReport> {
  const asked = { ...command, address: command.address.canonical };
  try {
    await publish(rpc, signed.txHex);
    return { state: 'known', ...publishedSend(asked, signed) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!error.outcomeUnknown) return reportOf(error);
    // A transaction that is confirmed already cannot be published again.
    const chain = await readChain(owner).catch(() => null);
    const listed = chain?.transactions.get(signed.txid);
    if (chain == null || listed === undefined) return reportOf(error);
    const published = publishedSend(asked, signed).payment;
    const nowMs = wallet.clock.now();
    return { state: 'known', ...sendInBlock(published, listed.blockheight, chain.height, nowMs) };
  }
}

/** Gives a signed transaction (hex) to the network, and keeps its coins reserved. Throws {@link ApiError}. */
export async function publish(rpc: ClnRpc, txHex: string): Promise<void> {
  const request = { psbt: psbtOf(txHex), reserve: PUBLISHED_BLOCKS };
  await rpc.write('sendpsbt', request, publishedShape(txidOf(txHex)), {
    timeoutMs: PUBLISH_TIMEOUT_MS,
    certainty: refusesToPublish,
  });
}

/** What a payment would cost in fees now, in millisatoshis; no coin is reserved for it. */
export async function estimateFeeMsat(node: ClnOwned, command: SendTerms): Promise<bigint> {
  return (await chosenFor(node, command)).feeSat * MSAT_PER_SAT;
}

async function chosenFor(node: ClnOwned, { address, amountMsat, priority }: SendTerms) {
  const [spendable, satPerKw] = await spendableAt(node, priority);
  const order = { amountSat: wholeSats(amountMsat), scriptBytes: scriptBytesAt(address), satPerKw };
  return { ...chooseCoins(spendable, order), satPerKw };
}

function spendableAt({ owner, wallet }: ClnOwned, priority: PayOnchainCommand['priority']) {
  return Promise.all([readSpendable(owner), sendSatPerKw({ owner, wallet }, priority)]);
}

/**
 * The most that one transaction can send to the address now, and its fee; see `NodeOnchain.mostSendable`. The node says
 * how much it keeps back for its channels; no coin is reserved.
 */
export async function mostSendable(
  { owner, wallet }: ClnOwned,
  { address, priority }: Pick<PayOnchainCommand, 'address' | 'priority'>,
): Promise<{ amountMsat: bigint; feeMsat: bigint }> {
  const told = await choosingAgain(async () => {
    const [spendable, satPerKw] = await spendableAt({ owner, wallet }, priority);
    const coins = worthSpending(spendable, satPerKw);
    if (coins.length === 0) throw nothingToSend('Core Lightning');
    return owner.write(
      'utxopsbt',
      {
        satoshi: 'all',
        feerate: `${satPerKw}perkw`,
        startweight: Number(startWeight(scriptBytesAt(address))),
        utxos: coins.map(outpointOf),
        reserve: 0,
      },
      fundedShape,
      { harmlessTwice: true },
    );
  });
  const amountSat = wholeSats(told.excess_msat);
  if (amountSat < dustLimitSat(address.scriptPubKey)) throw nothingToSend('Core Lightning');
  const feeSat = feeSatOf(BigInt(told.estimated_final_weight), BigInt(told.feerate_per_kw));
  return { amountMsat: amountSat * MSAT_PER_SAT, feeMsat: feeSat * MSAT_PER_SAT };
}

/** The coins that a send holds, as its locks name them. */
export function lockedOutpoints({ locks }: SignedSend): string[] {
  return locks.map(({ outpoint }) => outpoint);
}

function scriptBytesAt(address: DecodedAddress): bigint {
  return BigInt(address.scriptPubKey.length);
}

/** Throws `refused` for an amount that no node of the network would pass on. */
function requireNotDust({ scriptPubKey }: DecodedAddress, amountSat: bigint): void {
  const leastSat = dustLimitSat(scriptPubKey);
  if (amountSat >= leastSat) return;
  throw refused(
    `The network does not pass on less than ${leastSat} sats to this address: send more.`,
  );
}
