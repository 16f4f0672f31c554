import { hex } from '@scure/base';

/** The channel id by BOLT 2: the funding txid in wire order, its last two bytes XORed with the output. */
export function channelIdOf(fundingOutpoint: string): string {
  const [txid = '', vout = '0'] = fundingOutpoint.split(':');
  const id = hex.decode(txid).reverse();
  const at = id.length - 2;
  const view = new DataView(id.buffer, id.byteOffset);
  view.setUint16(at, view.getUint16(at) ^ Number(vout));
  return hex.encode(id);
}
