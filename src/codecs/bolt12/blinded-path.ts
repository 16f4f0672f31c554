import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import { byteReader } from '../byte-reader.ts';
import { joinBytes } from '../tlv.ts';
import { bytesOfHex, isPoint, uintBytes, type ValueCodec } from './values.ts';

/** One hop of a blinded path (BOLT 4). */
interface BlindedHop {
  /** Compressed public key, hex. */
  readonly blindedNodeId: string;
  /** Data that only the hop's node can decrypt, and that tells it the next hop. */
  readonly encryptedRecipientData: Uint8Array;
}

/** A route to a node that does not name it (BOLT 4, route blinding). */
export interface BlindedPath {
  /** The first node, hex: its 33-byte id, or 9 bytes of direction and short channel id (BOLT 1 `sciddir_or_pubkey`). */
  readonly introduction: string;
  /** First path key, a compressed public key, hex. */
  readonly pathKey: string;
  /** At least one hop. */
  readonly hops: readonly BlindedHop[];
}

/** The fees and limits of a blinded path of an invoice, all hops together (BOLT 12 `blinded_payinfo`). */
export interface BlindedPayInfo {
  readonly feeBaseMsat: number;
  readonly feeProportionalMillionths: number;
  readonly cltvExpiryDelta: number;
  readonly htlcMinimumMsat: bigint;
  readonly htlcMaximumMsat: bigint;
  readonly features: Uint8Array;
}

/** An on-chain address in an invoice (BOLT 12 `fallback_address`). */
export interface FallbackAddress {
  /** The witness version; an address with one above 16 is to be ignored. */
  readonly version: number;
  readonly program: Uint8Array;
}

function pointHex(bytes: Uint8Array, name: string, invalid: Invalid): string {
  return isPoint(bytes) ? hex.encode(bytes) : invalid(`has a ${name} that is not a public key`);
}

/** Codec of one or more blinded paths in a row. Invalid are an empty list, a path without hops, and wrong keys. */
export const blindedPaths: ValueCodec<readonly BlindedPath[]> = {
  decode: (value, invalid) => {
    if (value.length === 0) invalid('has no blinded path');
    const reader = byteReader(value, 'a blinded path', invalid);
    const paths: BlindedPath[] = [];
    do {
      const byChannel = reader.peek() < 2;
      const introduction = byChannel
        ? hex.encode(reader.take(9))
        : pointHex(reader.take(33), 'first_node_id', invalid);
      const pathKey = pointHex(reader.take(33), 'first_path_key', invalid);
      const count = reader.uint(1);
      if (count === 0) invalid('has a blinded path without hops');
      const hops: BlindedHop[] = [];
      for (let i = 0; i < count; i++) {
        const blindedNodeId = pointHex(reader.take(33), 'blinded_node_id', invalid);
        hops.push({ blindedNodeId, encryptedRecipientData: reader.take(reader.uint(2)) });
      }
      paths.push({ introduction, pathKey, hops });
    } while (!reader.done());
    return paths;
  },
  encode: (paths, invalid) =>
    joinBytes(
      paths.flatMap(({ introduction, pathKey, hops }) => [
        bytesOfHex(introduction, invalid),
        bytesOfHex(pathKey, invalid),
        uintBytes(hops.length, 1, invalid),
        ...hops.flatMap(({ blindedNodeId, encryptedRecipientData }) => [
          bytesOfHex(blindedNodeId, invalid),
          uintBytes(encryptedRecipientData.length, 2, invalid),
          encryptedRecipientData,
        ]),
      ]),
    ),
};

/** Codec of `invoice_blindedpay`: a list of `blinded_payinfo`. */
export const blindedPayInfos: ValueCodec<readonly BlindedPayInfo[]> = {
  decode: (value, invalid) => {
    const reader = byteReader(value, 'a blinded_payinfo', invalid);
    const infos: BlindedPayInfo[] = [];
    while (!reader.done()) {
      infos.push({
        feeBaseMsat: reader.uint(4),
        feeProportionalMillionths: reader.uint(4),
        cltvExpiryDelta: reader.uint(2),
        htlcMinimumMsat: reader.uint64(),
        htlcMaximumMsat: reader.uint64(),
        features: reader.take(reader.uint(2)),
      });
    }
    return infos;
  },
  encode: (infos, invalid) =>
    joinBytes(
      infos.flatMap((info) => [
        uintBytes(info.feeBaseMsat, 4, invalid),
        uintBytes(info.feeProportionalMillionths, 4, invalid),
        uintBytes(info.cltvExpiryDelta, 2, invalid),
        uintBytes(info.htlcMinimumMsat, 8, invalid),
        uintBytes(info.htlcMaximumMsat, 8, invalid),
        uintBytes(info.features.length, 2, invalid),
        info.features,
      ]),
    ),
};

/** Codec of `invoice_fallbacks`: a list of `fallback_address`. */
export const fallbackAddresses: ValueCodec<readonly FallbackAddress[]> = {
  decode: (value, invalid) => {
    const reader = byteReader(value, 'a fallback address', invalid);
    const fallbacks: FallbackAddress[] = [];
    while (!reader.done()) {
      fallbacks.push({ version: reader.uint(1), program: reader.take(reader.uint(2)) });
    }
    return fallbacks;
  },
  encode: (fallbacks, invalid) =>
    joinBytes(
      fallbacks.flatMap(({ version, program }) => [
        uintBytes(version, 1, invalid),
        uintBytes(program.length, 2, invalid),
        program,
      ]),
    ),
};

interface OneHopPathParts {
  /** Node id of the node that the path leads to and starts at, hex. */
  readonly introductionNodeId: string;
  /** First path key, hex. */
  readonly pathKey: string;
  readonly hop: BlindedHop;
}

/**
 * Returns the shortest blinded path, which starts and ends at the receiving node (BOLT 12: "a path of length 1 with
 * only themselves"). Its parts are checked when it is written into a document.
 */
export function oneHopPath(parts: OneHopPathParts): BlindedPath {
  return { introduction: parts.introductionNodeId, pathKey: parts.pathKey, hops: [parts.hop] };
}
