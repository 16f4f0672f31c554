import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** The bytes of a connection, read in pieces of a chosen length. */
export interface ByteStream {
  /** Returns the next bytes, or null once the other side has ended. */
  read(length: number): Promise<Uint8Array | null>;
  write(bytes: Uint8Array): void;
}

/** A connection between two Lightning nodes, encrypted as BOLT 8 says. */
export interface NoiseConnection {
  /** The node key of the other side. */
  readonly peerPk: Uint8Array;
  /** Returns the next message, or null once the other side has ended. Throws where one does not decrypt. */
  receive(): Promise<Uint8Array | null>;
  send(message: Uint8Array): void;
}

const NAME = utf8ToBytes('Noise_XK_secp256k1_ChaChaPoly_SHA256');
const TAG_BYTES = 16;
const KEY_BYTES = 33;
/** A key is used for so many encryptions. */
const ROTATES_AFTER = 1000;
const EMPTY = new Uint8Array();
const VERSION = Uint8Array.of(0);

const publicKey = (secret: Uint8Array) => secp256k1.getPublicKey(secret, true);
const shared = (secret: Uint8Array, pk: Uint8Array) =>
  sha256(secp256k1.getSharedSecret(secret, pk, true));

function nonceOf(count: number): Uint8Array {
  const nonce = new Uint8Array(12);
  new DataView(nonce.buffer).setBigUint64(4, BigInt(count), true);
  return nonce;
}

/** What both sides mix into their keys, step by step. */
class Handshake {
  #chain: Uint8Array = sha256(NAME);
  #hash: Uint8Array;
  #key: Uint8Array = EMPTY;

  constructor(responderPk: Uint8Array) {
    this.#hash = sha256(concatBytes(this.#chain, utf8ToBytes('lightning')));
    this.mix(responderPk);
  }

  mix(bytes: Uint8Array): void {
    this.#hash = sha256(concatBytes(this.#hash, bytes));
  }

  mixKey(secret: Uint8Array): void {
    [this.#chain, this.#key] = split(this.#chain, secret);
  }

  seal(text: Uint8Array, count = 0): Uint8Array {
    const sealed = chacha20poly1305(this.#key, nonceOf(count), this.#hash).encrypt(text);
    this.mix(sealed);
    return sealed;
  }

  open(sealed: Uint8Array, count = 0): Uint8Array {
    const text = chacha20poly1305(this.#key, nonceOf(count), this.#hash).decrypt(sealed);
    this.mix(sealed);
    return text;
  }

  /** The ciphers of what the initiator and the responder say. */
  ciphers(): readonly [Cipher, Cipher] {
    const [first, second] = split(this.#chain, EMPTY);
    return [new Cipher(this.#chain, first), new Cipher(this.#chain, second)];
  }
}

function split(chain: Uint8Array, secret: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const bytes = hkdf(sha256, secret, chain, EMPTY, 64);
  return [bytes.slice(0, 32), bytes.slice(32)];
}

/** One direction of the connection. */
class Cipher {
  #count = 0;
  #chain: Uint8Array;
  #key: Uint8Array;

  constructor(chain: Uint8Array, key: Uint8Array) {
    this.#chain = chain;
    this.#key = key;
  }

  encrypt(text: Uint8Array): Uint8Array {
    return this.#next().encrypt(text);
  }

  decrypt(sealed: Uint8Array): Uint8Array {
    return this.#next().decrypt(sealed);
  }

  #next() {
    if (this.#count === ROTATES_AFTER) {
      [this.#chain, this.#key] = split(this.#chain, this.#key);
      this.#count = 0;
    }
    return chacha20poly1305(this.#key, nonceOf(this.#count++));
  }
}

async function needed(stream: ByteStream, length: number): Promise<Uint8Array> {
  const bytes = await stream.read(length);
  if (bytes === null) throw new Error('The other side ended the handshake.');
  return bytes;
}

/** Answers a handshake as the node of that secret key. */
export async function noiseResponder(
  stream: ByteStream,
  secret: Uint8Array,
): Promise<NoiseConnection> {
  const handshake = new Handshake(publicKey(secret));
  const first = await needed(stream, 1 + KEY_BYTES + TAG_BYTES);
  const theirs = first.slice(1, 1 + KEY_BYTES);
  handshake.mix(theirs);
  handshake.mixKey(shared(secret, theirs));
  handshake.open(first.slice(1 + KEY_BYTES));
  const own = randomBytes(32);
  handshake.mix(publicKey(own));
  handshake.mixKey(shared(own, theirs));
  stream.write(concatBytes(VERSION, publicKey(own), handshake.seal(EMPTY)));
  const third = await needed(stream, 1 + KEY_BYTES + 2 * TAG_BYTES);
  const peerPk = handshake.open(third.slice(1, 1 + KEY_BYTES + TAG_BYTES), 1);
  handshake.mixKey(shared(own, peerPk));
  handshake.open(third.slice(1 + KEY_BYTES + TAG_BYTES));
  const [reads, writes] = handshake.ciphers();
  return connection(stream, peerPk, reads, writes);
}

/** Begins a handshake with a node, as the node of that secret key. */
export async function noiseInitiator(
  stream: ByteStream,
  secret: Uint8Array,
  peerPk: Uint8Array,
): Promise<NoiseConnection> {
  const handshake = new Handshake(peerPk);
  const own = randomBytes(32);
  handshake.mix(publicKey(own));
  handshake.mixKey(shared(own, peerPk));
  stream.write(concatBytes(VERSION, publicKey(own), handshake.seal(EMPTY)));
  const second = await needed(stream, 1 + KEY_BYTES + TAG_BYTES);
  const theirs = second.slice(1, 1 + KEY_BYTES);
  handshake.mix(theirs);
  handshake.mixKey(shared(own, theirs));
  handshake.open(second.slice(1 + KEY_BYTES));
  const key = handshake.seal(publicKey(secret), 1);
  handshake.mixKey(shared(secret, theirs));
  stream.write(concatBytes(VERSION, key, handshake.seal(EMPTY)));
  const [writes, reads] = handshake.ciphers();
  return connection(stream, peerPk, reads, writes);
}

function connection(
  stream: ByteStream,
  peerPk: Uint8Array,
  reads: Cipher,
  writes: Cipher,
): NoiseConnection {
  return {
    peerPk,
    async receive() {
      const head = await stream.read(2 + TAG_BYTES);
      if (head === null) return null;
      const [high = 0, low = 0] = reads.decrypt(head);
      const body = await stream.read(high * 256 + low + TAG_BYTES);
      return body && reads.decrypt(body);
    },
    send(message) {
      const length = Uint8Array.of(message.length >> 8, message.length & 0xff);
      stream.write(concatBytes(writes.encrypt(length), writes.encrypt(message)));
    },
  };
}
