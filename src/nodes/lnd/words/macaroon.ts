import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';

/** What a macaroon allows: an action on an entity, or for the entity `uri` the method that `action` names. */
export interface Operation {
  readonly entity: string;
  readonly action: string;
}

/** The content of an LND macaroon. Only LND can check whether it is genuine. */
export interface Macaroon {
  readonly rootKeyId: string;
  readonly operations: readonly Operation[];
}

/** Field types of the version 2 binary format of libmacaroons. */
const FIELD = { end: 0, location: 1, identifier: 2, signature: 6 } as const;
const FORMAT_VERSION = 2;
/** First byte of an identifier whose rest is a protobuf, as LND's macaroon library writes it. */
const IDENTIFIER_VERSION = 3;
const SIGNATURE_BYTES = 32;

/** Reads an LND macaroon in hex; null for anything else. */
export function readMacaroon(macaroonHex: string): Macaroon | null {
  try {
    const reader = new Reader(hex.decode(macaroonHex));
    if (reader.byte() !== FORMAT_VERSION) return null;
    let field = reader.field();
    if (field.type === FIELD.location) field = reader.field();
    if (field.type !== FIELD.identifier || field.data[0] !== IDENTIFIER_VERSION) return null;
    return readIdentifier(field.data.subarray(1));
  } catch {
    return null;
  }
}

/** Adds a first-party caveat, which LND enforces and nobody can remove. Throws for bytes that are no macaroon. */
export function restrictMacaroon(macaroonHex: string, condition: string): string {
  const bytes = hex.decode(macaroonHex);
  // A macaroon ends with a byte that ends the caveats, the type and length of the signature (2 bytes), and the
  // signature.
  const body = bytes.subarray(0, -(SIGNATURE_BYTES + 3));
  const signature = bytes.subarray(-SIGNATURE_BYTES);
  const caveat = utf8ToBytes(condition);
  return hex.encode(
    concatBytes(
      body,
      field(FIELD.identifier, caveat),
      Uint8Array.of(FIELD.end),
      closing(hmac(sha256, signature, caveat)),
    ),
  );
}

/** Returns the caveat by which a macaroon expires (`time-before` of LND's checkers). */
export function timeBefore(expiresAtMs: number): string {
  return `time-before ${new Date(expiresAtMs).toISOString()}`;
}

/** Makes a macaroon signed with the root key of id 0, with the same bytes that LND would make; `nonce` is 16 bytes. */
export function mintMacaroon(
  rootKey: Uint8Array,
  nonce: Uint8Array,
  operations: ReadonlyMap<string, readonly string[]>,
): string {
  const identifier = concatBytes(
    Uint8Array.of(IDENTIFIER_VERSION),
    bytesField(1, nonce),
    bytesField(2, utf8ToBytes('0')),
    ...[...operations].map(([entity, actions]) =>
      bytesField(
        3,
        concatBytes(
          bytesField(1, utf8ToBytes(entity)),
          ...actions.map((action) => bytesField(2, utf8ToBytes(action))),
        ),
      ),
    ),
  );
  const key = hmac(sha256, utf8ToBytes('macaroons-key-generator'), rootKey);
  return hex.encode(
    concatBytes(
      Uint8Array.of(FORMAT_VERSION),
      field(FIELD.location, utf8ToBytes('lnd')),
      field(FIELD.identifier, identifier),
      Uint8Array.of(FIELD.end),
      closing(hmac(sha256, key, identifier)),
    ),
  );
}

/** Reads the protobuf: 1 nonce, 2 root key id, 3 (repeated) an operation of entity (1) and actions (2). */
function readIdentifier(bytes: Uint8Array): Macaroon {
  let rootKeyId = '';
  const operations: Operation[] = [];
  for (const { tag, data } of protobufFields(bytes)) {
    if (tag === 2) rootKeyId = text(data);
    if (tag === 3) operations.push(...readOperations(data));
  }
  return { rootKeyId, operations };
}

function readOperations(bytes: Uint8Array): Operation[] {
  const fields = protobufFields(bytes);
  const entity = fields.find(({ tag }) => tag === 1);
  if (entity === undefined) return [];
  return fields
    .filter(({ tag }) => tag === 2)
    .map(({ data }) => ({ entity: text(entity.data), action: text(data) }));
}

/** Reads length-delimited fields only, since LND's identifiers have no others. */
function protobufFields(bytes: Uint8Array): { tag: number; data: Uint8Array }[] {
  const reader = new Reader(bytes);
  const fields: { tag: number; data: Uint8Array }[] = [];
  while (!reader.done) {
    const key = reader.varint();
    if ((key & 7) !== 2) throw new RangeError('not a length-delimited field');
    fields.push({ tag: key >> 3, data: reader.bytes(reader.varint()) });
  }
  return fields;
}

class Reader {
  #at = 0;
  constructor(readonly source: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.source.length;
  }

  byte(): number {
    const value = this.source[this.#at++];
    if (value === undefined) throw new RangeError('the bytes end too soon');
    return value;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number is too large');
  }

  bytes(length: number): Uint8Array {
    if (this.#at + length > this.source.length) throw new RangeError('the bytes end too soon');
    this.#at += length;
    return this.source.subarray(this.#at - length, this.#at);
  }

  field(): { type: number; data: Uint8Array } {
    const type = this.varint();
    return { type, data: this.bytes(this.varint()) };
  }
}

function closing(signature: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(FIELD.end), field(FIELD.signature, signature));
}

function field(type: number, data: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(type), varint(data.length), data);
}

function bytesField(tag: number, data: Uint8Array): Uint8Array {
  return field((tag << 3) | 2, data);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Uint8Array.from([...bytes, rest]);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}
