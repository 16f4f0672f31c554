/**
 * A plugin of Core Lightning: it holds each HTLC that arrives for the node, from `holdparts` on until `passparts`. The
 * RPC method `heldparts` lists those that it holds, and `decidepart` accepts one or refuses it with a message of BOLT 4.
 */

import { type PluginAnswer, servePlugin } from './plugin-loop.ts';

interface Params {
  readonly htlc?: {
    readonly short_channel_id: string;
    readonly id: number;
    readonly payment_hash: string;
    readonly amount_msat: number;
  };
  readonly id?: string;
  readonly failure?: string;
}

interface HeldPart {
  readonly id: string;
  readonly hash: string;
  readonly amountMsat: number;
  readonly answer: PluginAnswer;
}

const held = new Map<string, HeldPart>();
let isHolding = false;

const MANIFEST = {
  rpcmethods: [
    { name: 'holdparts', usage: '', description: 'Hold each HTLC from now on.' },
    { name: 'passparts', usage: '', description: 'Hold no further HTLC.' },
    { name: 'heldparts', usage: '', description: 'List the HTLCs that are held.' },
    { name: 'decidepart', usage: 'id [failure]', description: 'Accept or refuse an HTLC.' },
  ],
  hooks: [{ name: 'htlc_accepted' }],
};

servePlugin<Params>(MANIFEST, {
  htlc_accepted({ htlc }, answer) {
    if (!isHolding || htlc === undefined) return answer({ result: 'continue' });
    const { short_channel_id, id, payment_hash: hash, amount_msat: amountMsat } = htlc;
    const name = `${short_channel_id}/${id}`;
    held.set(name, { id: name, hash, amountMsat, answer });
  },
  holdparts(_, answer) {
    isHolding = true;
    answer({});
  },
  passparts(_, answer) {
    isHolding = false;
    answer({});
  },
  heldparts(_, answer) {
    const parts = [...held.values()].map(({ id, hash, amountMsat }) => ({ id, hash, amountMsat }));
    answer({ parts });
  },
  decidepart({ id = '', failure }, answer) {
    const part = held.get(id);
    held.delete(id);
    part?.answer(
      failure === undefined ? { result: 'continue' } : { result: 'fail', failure_message: failure },
    );
    answer({ decided: part !== undefined });
  },
});
