import { randomBytes } from 'node:crypto';
import { newIdentity } from './identity.ts';
import { type JsonObject, LndError } from './rpc.ts';
import type { Selection, Wallet } from './wallet.ts';

/** A channel as the node keeps it. */
export interface Channel {
  /** `<txid>:<vout>` of the funding output. */
  readonly point: string;
  readonly remotePubkey: string;
  readonly capacitySat: bigint;
  readonly memo: string;
  readonly isPrivate: boolean;
  readonly initiator: boolean;
  localMsat: bigint;
  active: boolean;
  /** True until the funding transaction has enough confirmations. */
  pending: boolean;
}

/** A channel that was closed cooperatively. */
export interface Closing {
  readonly channel: Channel;
  readonly txid: string;
}

/** Confirmations that open a channel. */
const OPEN_AFTER = 3;
const FEE_PER_KW = 2500n;
const COMMIT_WEIGHT = 772n;
const ANCHORS_SAT = 660n;
const COMMIT_FEE_SAT = (FEE_PER_KW * COMMIT_WEIGHT) / 1000n;

/** The node's channels and peers. */
export class Channels {
  readonly peers = new Map<string, string>();
  readonly #all = new Map<string, Channel>();
  readonly #closings: Closing[] = [];
  readonly #wallet: Wallet;

  constructor(wallet: Wallet) {
    this.#wallet = wallet;
  }

  /** All channels, after those whose funding has enough confirmations were opened. */
  list(): readonly Channel[] {
    for (const channel of this.#all.values()) {
      if (!channel.pending) continue;
      const [txid = ''] = channel.point.split(':');
      const funding = this.#wallet.list().find((tx) => tx.txid === txid);
      if (funding && this.#wallet.confirmations(funding) >= OPEN_AFTER) {
        channel.pending = false;
        channel.active = true;
      }
    }
    return [...this.#all.values()];
  }

  /** Adds an open channel without a funding transaction on the chain. */
  add(options: { capacitySat: bigint; localSat: bigint; remotePubkey?: string }): Channel {
    const channel: Channel = {
      point: `${randomBytes(32).toString('hex')}:0`,
      remotePubkey: options.remotePubkey ?? newIdentity().pubkey,
      ...{ capacitySat: options.capacitySat, localMsat: options.localSat * 1000n, memo: '' },
      ...{ isPrivate: false, initiator: true, active: true, pending: false },
    };
    this.#all.set(channel.point, channel);
    return channel;
  }

  connect(pubkey: string, host: string): void {
    if (this.peers.has(pubkey)) throw new LndError(`already connected to peer: ${pubkey}@${host}`);
    this.peers.set(pubkey, host);
  }

  open(
    request: {
      pubkey: string;
      amountSat: bigint;
      pushSat: bigint;
      memo: string;
      isPrivate: boolean;
    },
    selection: Selection,
  ): Channel {
    const { pubkey, amountSat, pushSat, memo, isPrivate } = request;
    if (!this.peers.has(pubkey)) throw new LndError(`peer ${pubkey} is not online`);
    if (amountSat < 20_000n) {
      throw new LndError(`channel is too small, the minimum channel size is: 20000 SAT`);
    }
    const free = this.#wallet.coins().filter(({ outpoint }) => !this.#wallet.isLeased(outpoint));
    const gone = selection.outpoints?.find((one) => !free.some(({ outpoint }) => outpoint === one));
    if (gone !== undefined) {
      throw new LndError(`outpoint already spent or locked by another subsystem: ${gone}`);
    }
    const script = `0020${randomBytes(32).toString('hex')}`;
    const { txid } = this.#wallet.pay(
      [{ script, valueSat: amountSat }],
      selection,
      '0:openchannel',
    );
    const channel: Channel = {
      ...{ point: `${txid}:0`, remotePubkey: pubkey, capacitySat: amountSat, memo, isPrivate },
      ...{ localMsat: (amountSat - pushSat - reservedSat(true)) * 1000n },
      ...{ initiator: true, active: false, pending: true },
    };
    this.#all.set(channel.point, channel);
    return channel;
  }

  /** Closes a channel: a transaction from outside pays our side to the wallet. Returns its txid. */
  close(point: string): string {
    const channel = this.#all.get(point);
    if (!channel) throw new LndError('channel not found');
    this.#all.delete(point);
    const oursSat = channel.localMsat / 1000n + reservedSat(channel.initiator) - CLOSE_FEE_SAT;
    const tx = this.#wallet.receive(oursSat, { confirmed: false });
    this.#wallet.get(tx.txid).label = '0:closechannel';
    this.#closings.push({ channel, txid: tx.txid });
    return tx.txid;
  }

  /** The closings whose transaction is confirmed, or those whose transaction is not. */
  closings(confirmed: boolean): readonly Closing[] {
    return this.#closings.filter(
      ({ txid }) => (this.#wallet.get(txid).height !== null) === confirmed,
    );
  }

  sendableMsat(): bigint {
    return this.list()
      .filter(({ active }) => active)
      .reduce(
        (sum, channel) => sum + atLeastZero(channel.localMsat - reserveSat(channel) * 1000n),
        0n,
      );
  }

  /** Takes the cost of a payment from the channels, the fullest first. */
  spend(amountMsat: bigint): void {
    let rest = amountMsat;
    for (const channel of [...this.list()].sort((a, b) => Number(b.localMsat - a.localMsat))) {
      const part = rest < channel.localMsat ? rest : channel.localMsat;
      channel.localMsat -= part;
      rest -= part;
    }
  }

  /** Adds a received amount to the first channel. */
  earn(amountMsat: bigint): void {
    const channel = this.list().find(({ active }) => active);
    if (channel) channel.localMsat += amountMsat;
  }
}

/** What a cooperative close costs. */
const CLOSE_FEE_SAT = 150n;

/** Satoshis that the opener sets aside for the commitment's fee. */
function reservedSat(initiator: boolean): bigint {
  return initiator ? COMMIT_FEE_SAT + ANCHORS_SAT : 0n;
}

function reserveSat({ capacitySat }: Channel): bigint {
  return capacitySat / 100n;
}

function remoteSat({ capacitySat, localMsat, initiator }: Channel): bigint {
  return atLeastZero(capacitySat - localMsat / 1000n - reservedSat(initiator));
}

/** lnrpc.Channel */
export function channelJson(channel: Channel): JsonObject {
  const constraints = {
    csv_delay: 144,
    chan_reserve_sat: `${reserveSat(channel)}`,
    dust_limit_sat: '354',
    max_pending_amt_msat: `${channel.capacitySat * 990n}`,
    min_htlc_msat: '1',
    max_accepted_htlcs: 483,
  };
  return {
    active: channel.active,
    remote_pubkey: channel.remotePubkey,
    channel_point: channel.point,
    chan_id: '550829395148800',
    capacity: `${channel.capacitySat}`,
    local_balance: `${channel.localMsat / 1000n}`,
    remote_balance: `${remoteSat(channel)}`,
    commit_fee: `${COMMIT_FEE_SAT}`,
    commit_weight: `${COMMIT_WEIGHT}`,
    fee_per_kw: `${FEE_PER_KW}`,
    unsettled_balance: '0',
    total_satoshis_sent: '0',
    total_satoshis_received: '0',
    num_updates: '0',
    pending_htlcs: [],
    csv_delay: 144,
    private: channel.isPrivate,
    initiator: channel.initiator,
    chan_status_flags: 'ChanStatusDefault',
    local_chan_reserve_sat: constraints.chan_reserve_sat,
    remote_chan_reserve_sat: constraints.chan_reserve_sat,
    static_remote_key: false,
    commitment_type: 'ANCHORS',
    lifetime: '1',
    uptime: '1',
    close_address: '',
    push_amount_sat: '0',
    thaw_height: 0,
    local_constraints: constraints,
    remote_constraints: constraints,
    alias_scids: [],
    zero_conf: false,
    zero_conf_confirmed_scid: '0',
    peer_alias: '',
    peer_scid_alias: '0',
    memo: channel.memo,
    custom_channel_data: '',
  };
}

/** lnrpc.PendingChannelsResponse.PendingOpenChannel */
export function pendingChannelJson(channel: Channel): JsonObject {
  return {
    channel: {
      remote_node_pub: channel.remotePubkey,
      channel_point: channel.point,
      capacity: `${channel.capacitySat}`,
      local_balance: `${channel.localMsat / 1000n}`,
      remote_balance: `${remoteSat(channel)}`,
      local_chan_reserve_sat: `${reserveSat(channel)}`,
      remote_chan_reserve_sat: `${reserveSat(channel)}`,
      initiator: 'INITIATOR_LOCAL',
      commitment_type: 'ANCHORS',
      num_forwarding_packages: '0',
      chan_status_flags: '',
      private: channel.isPrivate,
      memo: channel.memo,
      custom_channel_data: '',
    },
    commit_fee: `${COMMIT_FEE_SAT}`,
    commit_weight: `${COMMIT_WEIGHT}`,
    fee_per_kw: `${FEE_PER_KW}`,
    funding_expiry_blocks: 2016,
    confirmations_until_active: OPEN_AFTER,
    confirmation_height: 0,
  };
}

/** lnrpc.PendingChannelsResponse.WaitingCloseChannel */
export function waitingCloseJson({ channel, txid }: Closing): JsonObject {
  return {
    channel: pendingChannelJson(channel).channel ?? null,
    limbo_balance: `${channel.localMsat / 1000n}`,
    closing_txid: txid,
    closing_tx_hex: '',
  };
}

/** lnrpc.ChannelCloseSummary */
export function closedChannelJson({ channel, txid }: Closing): JsonObject {
  return {
    channel_point: channel.point,
    closing_tx_hash: txid,
    remote_pubkey: channel.remotePubkey,
    capacity: `${channel.capacitySat}`,
    settled_balance: `${channel.localMsat / 1000n}`,
    close_type: 'COOPERATIVE_CLOSE',
    open_initiator: 'INITIATOR_LOCAL',
    close_initiator: 'INITIATOR_LOCAL',
  };
}

function atLeastZero(value: bigint): bigint {
  return value > 0n ? value : 0n;
}
