import { type DnsRecord, decodeDnsAnswer } from '../../src/codecs/dns/index.ts';

/** The parts of the value of PSBT_OUT_DNSSEC_PROOF (BIP 353). */
export interface Proof {
  /** The human-readable name, without the bitcoin sign. */
  readonly hrn: string;
  /** The records of its RFC 9102 chain, in any order. */
  readonly records: readonly DnsRecord[];
}

/** Reads a proof with the product's own reader of DNS messages. */
export function readProof(hex: string): Proof {
  const bytes = Buffer.from(hex, 'hex');
  const [length = 0] = bytes;
  const chain = bytes.subarray(1 + length);
  return {
    hrn: bytes.subarray(1, 1 + length).toString('ascii'),
    records: decodeDnsAnswer(Buffer.concat([answerHeader(countRecords(chain)), chain])).records,
  };
}

function countRecords(chain: Buffer): number {
  let count = 0;
  for (let at = 0; at < chain.length; count++) {
    while (chain[at] !== 0) at += 1 + chain.readUInt8(at);
    // After the name come type, class and TTL, then the length of the data.
    at += 9 + 2 + chain.readUInt16BE(at + 9);
  }
  return count;
}

function answerHeader(records: number): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(0x8000, 2);
  header.writeUInt16BE(records, 6);
  return header;
}
