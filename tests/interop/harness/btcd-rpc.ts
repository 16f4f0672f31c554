import { hex } from '@scure/base';
import { parsedTx } from '../../support/esplora-index.ts';
import type { ChainAccess } from './btcd.ts';

/** An error answer of btcd. */
export class BtcdRefusal extends Error {
  override readonly name = 'BtcdRefusal';
  constructor(
    method: string,
    /** The code of Bitcoin Core for this error, such as -8. */
    readonly code: number,
    /** What btcd says. */
    readonly reason: string,
  ) {
    super(`btcd refused ${method}: ${reason}`);
  }
}

/** Makes one JSON-RPC call and returns its result. Throws {@link BtcdRefusal}. */
export type BtcdRpc = <T>(method: string, params?: readonly unknown[]) => Promise<T>;

/** The JSON-RPC interface of a btcd. */
export function btcdRpc(access: ChainAccess): BtcdRpc {
  return async <T>(method: string, params: readonly unknown[] = []) => {
    const response = await fetch(`https://${access.rpcHost}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${access.rpcUser}:${access.rpcPassword}`)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }),
      tls: { ca: await Bun.file(access.rpcCertPath).text() },
    });
    const reply = (await response.json()) as {
      result: T;
      error: { code: number; message: string } | null;
    };
    if (reply.error !== null) {
      throw new BtcdRefusal(method, reply.error.code, reply.error.message);
    }
    return reply.result;
  };
}

/** Publishes a transaction and returns its txid. As with Bitcoin Core, one that is in the mempool is taken again. */
export function publishRaw(rpc: BtcdRpc, raw: string): Promise<string> {
  return rpc<string>('sendrawtransaction', [raw]).catch((error) => {
    if (!/already have transaction/.test(String(error))) throw error;
    return parsedTx(hex.decode(raw)).txid;
  });
}
