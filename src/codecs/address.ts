import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { CodecError } from './codec-error.ts';
import { NETWORKS, type Network } from './network.ts';

/** The kind of script that an address pays to; `segwit` is a witness version or length that has no name yet. */
type AddressKind = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr' | 'segwit';

/** The parts of an on-chain address. */
export interface DecodedAddress {
  /** Networks that share the address's prefix. */
  readonly networks: readonly Network[];
  readonly kind: AddressKind;
  /** The hash or witness program. */
  readonly program: Uint8Array;
  /** The witness version; null for base58 addresses. */
  readonly witnessVersion: number | null;
  readonly scriptPubKey: Uint8Array;
  /** The address: in lower case for segwit, unchanged for base58. */
  readonly canonical: string;
}

const base58check = createBase58check(sha256);
const ALL = Object.keys(NETWORKS) as Network[];
/** The length of the longest address (BIP 173). Longer strings are invalid before any other check. */
const MAX_LENGTH = 90;

/**
 * Reads an address of any network: base58 (P2PKH, P2SH), segwit version 0 in bech32 (BIP 173), version 1 and higher
 * in bech32m (BIP 350). Throws CodecError('address').
 */
export function decodeAddress(text: string): DecodedAddress {
  if (text.length > MAX_LENGTH) invalid('it is longer than any address');
  const prefix = /^(.+)1[^1]*$/.exec(text.toLowerCase())?.[1];
  const networks = ALL.filter((network) => NETWORKS[network].segwitPrefix === prefix);
  return networks.length > 0 ? decodeSegwit(text, networks) : decodeBase58(text);
}

/** Writes a witness program as an address (BIP 173, BIP 350); null when the program is not valid for the version. */
export function encodeWitnessAddress(
  version: number,
  program: Uint8Array,
  network: Network,
): string | null {
  if (!isWitnessProgram(version, program)) return null;
  const codec = version === 0 ? bech32 : bech32m;
  return codec.encode(NETWORKS[network].segwitPrefix, [version, ...codec.toWords(program)]);
}

/** Writes a 20-byte hash as a base58 address; null when it has another length. */
export function encodeHashAddress(
  kind: 'p2pkh' | 'p2sh',
  hash: Uint8Array,
  network: Network,
): string | null {
  if (hash.length !== 20) return null;
  const { pubKeyHash, scriptHash } = NETWORKS[network];
  return base58check.encode(new Uint8Array([kind === 'p2pkh' ? pubKeyHash : scriptHash, ...hash]));
}

/** Returns the address that a script pays to on a network; null for scripts that have no address. */
export function encodeAddress(script: Uint8Array, network: Network): string | null {
  const [first, length] = script;
  if (first === 0x76 && script.length === 25 && script[1] === 0xa9 && script[2] === 20) {
    return encodeHashAddress('p2pkh', script.subarray(3, 23), network);
  }
  if (first === 0xa9 && script.length === 23 && length === 20) {
    return encodeHashAddress('p2sh', script.subarray(2, 22), network);
  }
  const version = first === 0 ? 0 : (first ?? 0) - 0x50;
  if (length !== script.length - 2 || version < 0 || version > 16) return null;
  return encodeWitnessAddress(version, script.subarray(2), network);
}

function invalid(rule: string): never {
  throw new CodecError('address', `This is not a usable on-chain address: ${rule}; copy it again.`);
}

function isWitnessProgram(version: number, program: Uint8Array): boolean {
  if (program.length < 2 || program.length > 40 || version > 16) return false;
  return version !== 0 || program.length === 20 || program.length === 32;
}

function decodeSegwit(text: string, networks: readonly Network[]): DecodedAddress {
  // The first letter after the prefix is the version, by which the checksum is chosen (BIP 350).
  const [codec, other] = /1q[^1]*$/i.test(text) ? [bech32, bech32m] : [bech32m, bech32];
  const [version, ...words] = codec.decodeUnsafe(text)?.words ?? [];
  if (version === undefined) {
    const isOfOther = (other.decodeUnsafe(text)?.words ?? []).length > 0;
    invalid(
      isOfOther
        ? 'its checksum is not of the kind that its version needs'
        : 'its checksum is wrong',
    );
  }
  const program = bech32.fromWordsUnsafe(words);
  if (!program || !isWitnessProgram(version, program)) invalid('its witness program is malformed');
  return {
    networks,
    kind: segwitKind(version, program),
    program,
    witnessVersion: version,
    scriptPubKey: new Uint8Array([version === 0 ? 0 : 0x50 + version, program.length, ...program]),
    canonical: text.toLowerCase(),
  };
}

function segwitKind(version: number, program: Uint8Array): AddressKind {
  if (version === 0) return program.length === 20 ? 'p2wpkh' : 'p2wsh';
  return version === 1 && program.length === 32 ? 'p2tr' : 'segwit';
}

function decodeBase58(text: string): DecodedAddress {
  const bytes = decodeCheck(text);
  const [version, ...rest] = bytes;
  const program = new Uint8Array(rest);
  const pubKeyHash = ALL.filter((network) => NETWORKS[network].pubKeyHash === version);
  const scriptHash = ALL.filter((network) => NETWORKS[network].scriptHash === version);
  const networks = [...pubKeyHash, ...scriptHash];
  if (program.length !== 20 || networks.length === 0) invalid('its network is not known');
  const isKey = pubKeyHash.length > 0;
  return {
    networks,
    kind: isKey ? 'p2pkh' : 'p2sh',
    program,
    witnessVersion: null,
    scriptPubKey: isKey
      ? new Uint8Array([0x76, 0xa9, 20, ...program, 0x88, 0xac])
      : new Uint8Array([0xa9, 20, ...program, 0x87]),
    canonical: text,
  };
}

function decodeCheck(text: string): Uint8Array {
  try {
    return base58check.decode(text);
  } catch {
    return invalid('it is neither segwit nor base58 with a correct checksum');
  }
}
