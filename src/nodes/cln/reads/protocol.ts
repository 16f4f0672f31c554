import type { RemoteProtocol } from '../../remote/place/protocol.ts';
import { type Rune, readRune } from '../words/rune.ts';
import { infoShape, signatureShape } from '../words/wire.ts';
import { grantOf } from './grants.ts';
import { readInfo, versionOf } from './info.ts';
import { ClnRpc } from './rpc.ts';

/** How Core Lightning is spoken to. */
export const CLN_PROTOCOL: RemoteProtocol<ClnRpc, Rune> = {
  kind: 'cln',
  title: 'Core Lightning',
  tokenName: 'rune',
  client: (target, events) => new ClnRpc(target, events),
  async identify(rpc) {
    const { info, network } = await readInfo(rpc);
    return { nodePk: info.id, network, version: versionOf(info) };
  },
  async sign(rpc, message) {
    const options = { harmlessTwice: true };
    return (await rpc.write('signmessage', { message }, signatureShape, options)).zbase;
  },
  toSign: 'signmessage',
  // clnrest tells nothing without a rune.
  async probe(rpc, { hasToken, timeoutMs }) {
    if (hasToken) await rpc.read('getinfo', {}, infoShape, { timeoutMs });
  },
  readToken: readRune,
  grantOf,
};
