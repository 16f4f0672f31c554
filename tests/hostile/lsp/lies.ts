import type { Lie } from './relay.ts';

/** The type of what a wallet and an LSP say to each other in JSON-RPC (LSPS0). */
const LSPS = 37913;
/** BOLT 2, `update_add_htlc`; BOLT 1, `ping` and `pong`. */
const ADD_HTLC = 128;
const KEEPS_ALIVE: readonly number[] = [18, 19];

type Members = Readonly<Record<string, unknown>>;

/** How an LSP's words of LSPS2 are changed, by method; what a function returns stands in the place of what it is given. */
export interface LspsLies {
  /** Of what the wallet asks. */
  readonly asked?: Readonly<Record<string, (params: Members) => Members>>;
  /** Of what the LSP answers: members of another message, its whole text, or null for none. */
  readonly answered?: Readonly<Record<string, (result: Members) => Members | string | null>>;
}

/** Changes what is said about opening a channel, and nothing else. */
export function lspsLie({ asked = {}, answered = {} }: LspsLies): Lie {
  const methods = new Map<unknown, string>();
  const framed = (text: string) => {
    const type = Buffer.alloc(2);
    type.writeUInt16BE(LSPS);
    return Buffer.concat([type, Buffer.from(text)]);
  };
  return (message, speaker) => {
    if (message.readUInt16BE() !== LSPS) return [message];
    const said = JSON.parse(message.subarray(2).toString());
    if (speaker === 'wallet') {
      methods.set(said.id, said.method);
      const change = asked[said.method];
      if (change === undefined) return [message];
      return [framed(JSON.stringify({ ...said, params: change(said.params) }))];
    }
    const change = answered[methods.get(said.id) ?? ''];
    if (change === undefined || said.result === undefined) return [message];
    const changed = change(said.result);
    if (changed === null) return [];
    if (typeof changed === 'string') return [framed(changed)];
    return [framed(JSON.stringify({ jsonrpc: '2.0', id: said.id, ...changed }))];
  };
}

/** Lets no payment through, nor anything after the first one, but what shows that the LSP is alive. */
export function neverForwards(): { readonly lie: Lie; readonly hasHeldBack: () => boolean } {
  let hasHeldBack = false;
  return {
    lie(message, speaker) {
      const type = message.readUInt16BE();
      hasHeldBack ||= speaker === 'lsp' && type === ADD_HTLC;
      return hasHeldBack && !KEEPS_ALIVE.includes(type) ? [] : [message];
    },
    hasHeldBack: () => hasHeldBack,
  };
}
