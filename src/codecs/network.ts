/** 21 million BTC in millisatoshis, the largest amount there is. */
export const MAX_AMOUNT_MSAT = 2_100_000_000_000_000_000n;

/** The Bitcoin networks that this program distinguishes. */
export type Network = 'bitcoin' | 'testnet' | 'signet' | 'regtest';

/** The prefixes of a network's strings, and the genesis block hash that identifies it in BOLT 12. */
interface NetworkParameters {
  /** BOLT 11 prefix, which follows `ln`. */
  readonly bolt11Prefix: string;
  /** Human-readable part of segwit addresses (BIP 173). */
  readonly segwitPrefix: string;
  /** Version byte of P2PKH base58 addresses. */
  readonly pubKeyHash: number;
  /** Version byte of P2SH base58 addresses. */
  readonly scriptHash: number;
  /** Genesis block hash in wire byte order, hex (BOLT 12 `offer_chains`). */
  readonly chainHash: string;
}

/** The constants of BOLT 11, BIP 173 and BOLT 0, by network. */
export const NETWORKS: Readonly<Record<Network, NetworkParameters>> = {
  bitcoin: {
    bolt11Prefix: 'bc',
    segwitPrefix: 'bc',
    pubKeyHash: 0x00,
    scriptHash: 0x05,
    chainHash: '6fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000',
  },
  testnet: {
    bolt11Prefix: 'tb',
    segwitPrefix: 'tb',
    pubKeyHash: 0x6f,
    scriptHash: 0xc4,
    chainHash: '43497fd7f826957108f4a30fd9cec3aeba79972084e90ead01ea330900000000',
  },
  signet: {
    bolt11Prefix: 'tbs',
    segwitPrefix: 'tb',
    pubKeyHash: 0x6f,
    scriptHash: 0xc4,
    chainHash: 'f61eee3b63a380a477a063af32b2bbc97c9ff9f01f2c4225e973988108000000',
  },
  regtest: {
    bolt11Prefix: 'bcrt',
    segwitPrefix: 'bcrt',
    pubKeyHash: 0x6f,
    scriptHash: 0xc4,
    chainHash: '06226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910f',
  },
};
