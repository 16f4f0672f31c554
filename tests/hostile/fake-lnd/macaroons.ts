import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Input, LndError, type RpcMethod } from './rpc.ts';

/**
 * LND's macaroon service, written independently of the connector's code, so that the two check each other: version 2
 * binary macaroons whose identifier is a protobuf of nonce, root key id and operations, signed by a chain of HMACs.
 */
export class Macaroons {
  readonly #rootKeys = new Map<string, Buffer>([['0', randomBytes(32)]]);

  /** Makes a macaroon (hex) for operations written as `entity:action`. Makes the root key when there is none. */
  bake(operations: readonly string[], rootKeyId = '0'): string {
    const rootKey = this.#rootKeys.get(rootKeyId) ?? randomBytes(32);
    this.#rootKeys.set(rootKeyId, rootKey);
    const identifier = Buffer.concat([
      Buffer.of(3),
      bytesField(1, randomBytes(16)),
      bytesField(2, Buffer.from(rootKeyId)),
      ...operations.map((operation) => {
        const at = operation.indexOf(':');
        return bytesField(
          3,
          Buffer.concat([
            bytesField(1, Buffer.from(operation.slice(0, at))),
            bytesField(2, Buffer.from(operation.slice(at + 1))),
          ]),
        );
      }),
    ]);
    const signature = hmac(hmac(KEY_GENERATOR, rootKey), identifier);
    return Buffer.concat([
      Buffer.of(2),
      bytesOf(1, Buffer.from('lnd')),
      bytesOf(2, identifier),
      Buffer.of(0, 0),
      bytesOf(6, signature),
    ]).toString('hex');
  }

  /** Replaces the root key of id 0, as initwallet does. */
  setRootKey(key: Buffer): void {
    this.#rootKeys.set('0', key);
  }

  ids(): string[] {
    return [...this.#rootKeys.keys()];
  }

  delete(rootKeyId: string): boolean {
    if (rootKeyId === '0') throw new LndError('root key ID value is not allowed');
    return this.#rootKeys.delete(rootKeyId);
  }

  /** Throws LND's error unless the macaroon allows the method now. */
  check(macaroonHex: string | null, { rpc, needs }: RpcMethod, nowMs: number): void {
    if (needs === null) return;
    if (macaroonHex === null) throw new LndError('expected 1 macaroon, got 0');
    const { rootKeyId, operations, identifier, caveats, signature } = parse(macaroonHex);
    const rootKey = this.#rootKeys.get(rootKeyId);
    if (!rootKey) {
      throw new LndError(`cannot get macaroon: root key with id ${rootKeyId} doesn't exist`);
    }
    const expected = caveats.reduce(
      (key, caveat) => hmac(key, caveat),
      hmac(hmac(KEY_GENERATOR, rootKey), identifier),
    );
    if (!timingSafeEqual(expected, signature)) {
      throw new LndError('verification failed: signature mismatch after caveat verification');
    }
    for (const caveat of caveats) checkCaveat(caveat.toString(), nowMs);
    const allowed =
      operations.has(`uri:${rpc}`) || needs.every((operation) => operations.has(operation));
    if (!allowed) throw new LndError('permission denied');
  }
}

/** All operations, as in admin.macaroon. */
export const ADMIN: readonly string[] = [
  'address:read address:write info:read info:write invoices:read invoices:write',
  'macaroon:generate macaroon:read macaroon:write message:read message:write',
  'offchain:read offchain:write onchain:read onchain:write peers:read peers:write',
  'signer:generate signer:read',
].flatMap((line) => line.split(' '));

/** The REST methods of macaroons; `all` are the methods that ListPermissions lists. */
export function macaroonMethods(
  macaroons: Macaroons,
  all: () => readonly RpcMethod[],
): RpcMethod[] {
  const operationOf = (permission: Input) =>
    `${permission.text('entity')}:${permission.text('action')}`;
  return [
    {
      http: 'POST',
      path: '/v1/macaroon',
      rpc: '/lnrpc.Lightning/BakeMacaroon',
      needs: ['macaroon:generate'],
      answer: ({ input }) => {
        const operations = input.list('permissions').map(operationOf);
        if (operations.length === 0) throw new LndError('permission list cannot be empty. ');
        const known = new Set(
          all()
            .map(({ rpc }) => `uri:${rpc}`)
            .concat(ADMIN),
        );
        const wrong = operations.find((operation) => !known.has(operation));
        if (wrong !== undefined) throw new LndError(`invalid permission action. ${wrong}`);
        return { macaroon: macaroons.bake(operations, `${input.int('root_key_id')}`) };
      },
    },
    {
      http: 'GET',
      path: '/v1/macaroon/ids',
      rpc: '/lnrpc.Lightning/ListMacaroonIDs',
      needs: ['macaroon:read'],
      answer: () => ({ root_key_ids: macaroons.ids() }),
    },
    {
      http: 'DELETE',
      path: '/v1/macaroon/{root_key_id}',
      rpc: '/lnrpc.Lightning/DeleteMacaroonID',
      needs: ['macaroon:write'],
      answer: ({ input }) => ({ deleted: macaroons.delete(`${input.int('root_key_id')}`) }),
    },
  ];
}

/** Reads the root key id and the operations (`entity:action`) of a macaroon, for tests to check. */
export function readFakeMacaroon(macaroonHex: string): { rootKeyId: string; operations: string[] } {
  const { rootKeyId, operations } = parse(macaroonHex);
  return { rootKeyId, operations: [...operations] };
}

const KEY_GENERATOR = Buffer.from('macaroons-key-generator');

function parse(macaroonHex: string) {
  const bytes = Buffer.from(macaroonHex, 'hex');
  let at = 1;
  const field = () => {
    const type = bytes[at++] ?? 0;
    if (type === 0) return { type, data: Buffer.alloc(0) };
    const length = varint(bytes, at);
    at = length.next + length.value;
    return { type, data: bytes.subarray(length.next, at) };
  };
  let first = field();
  if (first.type === 1) first = field();
  if (bytes[0] !== 2 || first.type !== 2 || first.data[0] !== 3) throw new LndError('invalid ID');
  field();
  const caveats: Buffer[] = [];
  let next = field();
  for (; next.type === 2; next = field()) {
    caveats.push(next.data);
    field();
  }
  const signature = field().data;
  if (signature.length !== 32)
    throw new LndError('cannot determine data format of binary-encoded macaroon');
  return { ...readIdentifier(first.data.subarray(1)), identifier: first.data, caveats, signature };
}

function readIdentifier(bytes: Buffer): { rootKeyId: string; operations: Set<string> } {
  let rootKeyId = '';
  const operations = new Set<string>();
  for (const { tag, data } of protobuf(bytes)) {
    if (tag === 2) rootKeyId = data.toString();
    if (tag !== 3) continue;
    const fields = protobuf(data);
    const entity = fields.find((field) => field.tag === 1)?.data.toString() ?? '';
    for (const one of fields.filter((field) => field.tag === 2))
      operations.add(`${entity}:${one.data}`);
  }
  return { rootKeyId, operations };
}

function protobuf(bytes: Buffer): { tag: number; data: Buffer }[] {
  const fields: { tag: number; data: Buffer }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = (bytes[at] ?? 0) >> 3;
    const length = varint(bytes, at + 1);
    at = length.next + length.value;
    fields.push({ tag, data: bytes.subarray(length.next, at) });
  }
  return fields;
}

function varint(bytes: Buffer, from: number): { value: number; next: number } {
  const low = bytes[from] ?? 0;
  if (low < 0x80) return { value: low, next: from + 1 };
  return { value: (low & 0x7f) + (bytes[from + 1] ?? 0) * 0x80, next: from + 2 };
}

function checkCaveat(caveat: string, nowMs: number): void {
  const until = /^time-before (.+)$/.exec(caveat)?.[1];
  if (until === undefined)
    throw new LndError(`caveat "${caveat}" not satisfied: caveat not recognized`);
  if (Date.parse(until) <= nowMs) {
    throw new LndError(`caveat "${caveat}" not satisfied: macaroon has expired`);
  }
}

function hmac(key: Buffer, data: Buffer): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

function bytesOf(type: number, data: Buffer): Buffer {
  const { length } = data;
  const size = length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return Buffer.concat([Buffer.of(type, ...size), data]);
}

function bytesField(tag: number, data: Buffer): Buffer {
  return bytesOf((tag << 3) | 2, data);
}
