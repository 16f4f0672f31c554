import type { Ds } from '../../src/codecs/dns/index.ts';
import {
  answerBytes,
  labelsOf,
  longTxtData,
  nameBytes,
  questionOf,
  type ServedRecord,
  TYPES,
} from './dns-writer.ts';
import { dsData, makeKey, type SignatureShape, signRecords, type ZoneKey } from './zone-keys.ts';

/** How a zone differs from a good one. */
interface ZoneOptions {
  /** The key that the DS record of the zone above names. */
  readonly ksk?: ZoneKey;
  /** The key that signs all records except the keys. */
  readonly zsk?: ZoneKey;
  /** The key that signs the keys; the first key by default. */
  readonly keysSignedBy?: ZoneKey;
  /** The digest types of the DS records in the zone above; when empty, that zone has none. */
  readonly digestTypes?: readonly number[];
  readonly ttl?: number;
}

/** A small DNS with a root of its own, signed. Each zone must come after the one above it. */
export interface SignedTree {
  /** The root's key, which the product gets in place of the real ones. */
  readonly anchors: readonly Ds[];
  readonly nowSecs: number;
  zone(name: string, options?: ZoneOptions): void;
  /** Signs records of one name and type with their zone's key, without serving them. */
  signed(records: readonly ServedRecord[], shape?: SignatureShape, zone?: string): ServedRecord[];
  /** Sets the records that are served for a question. They are not checked. */
  serve(name: string, type: number, records: readonly ServedRecord[]): void;
  served(name: string, type: number): readonly ServedRecord[];
  /** Signs and serves the TXT records of a name. */
  txt(name: string, texts: readonly string[], ttl?: number): void;
  /** Signs and serves an alias, in the answer to the question for TXT records. */
  alias(type: 'CNAME' | 'DNAME', from: string, to: string, asked?: string): void;
  /** The zone's signing key. */
  zskOf(zone: string): ZoneKey;
  /** The answer of a DNS-over-HTTPS resolver. */
  answer(request: Request): Response;
}

/** Creates a tree that has only the root. */
export function openSignedTree({
  nowSecs,
  rootTtl = 300,
}: {
  readonly nowSecs: number;
  readonly rootTtl?: number;
}): SignedTree {
  const zones = new Map<string, ZoneKey>();
  const answers = new Map<string, readonly ServedRecord[]>();
  const keyOf = (name: string, type: number) => `${type} ${name.toLowerCase()}`;
  const serve = (name: string, type: number, records: readonly ServedRecord[]) => {
    answers.set(keyOf(name, type), records);
  };
  /** Returns the closest zone of a name, or for a DS record the zone above it. */
  const zoneOf = (name: string, type: number): string => {
    const labels = labelsOf(name.toLowerCase());
    const from = type === TYPES.DS ? 1 : 0;
    for (let at = from; at <= labels.length; at++) {
      const zone = labels.slice(at).join('.');
      if (zones.has(zone)) return zone;
    }
    return '';
  };
  const keyOfZone = (zone: string): ZoneKey => {
    const key = zones.get(zone);
    if (!key) throw new Error(`there is no zone ${zone}`);
    return key;
  };
  const signed: SignedTree['signed'] = (records, shape, zone) => {
    const [first] = records;
    const signer = zone ?? zoneOf(first?.name ?? '', first?.type ?? 0);
    return [...records, signRecords(records, { signer, key: keyOfZone(signer), nowSecs }, shape)];
  };
  const zone: SignedTree['zone'] = (name, options = {}) => {
    const {
      ksk = makeKey(),
      zsk = makeKey({ flags: 256 }),
      digestTypes = [2],
      ttl = 300,
    } = options;
    const keys = [ksk, zsk].map(({ data }) => ({ name, type: TYPES.DNSKEY, ttl, data }));
    const key = options.keysSignedBy ?? ksk;
    serve(name, TYPES.DNSKEY, [...keys, signRecords(keys, { signer: name, key, nowSecs })]);
    const digests = digestTypes.map((digestType) => ({
      name,
      type: TYPES.DS,
      ttl,
      data: dsData(name, ksk, digestType),
    }));
    if (name !== '' && digests.length > 0) serve(name, TYPES.DS, signed(digests));
    zones.set(name, zsk);
  };
  const rootKey = makeKey();
  zone('', { ksk: rootKey, ttl: rootTtl });
  return {
    anchors: [
      {
        keyTag: rootKey.keyTag,
        algorithm: rootKey.algorithm,
        digestType: 2,
        digest: dsData('', rootKey, 2).subarray(4),
      },
    ],
    nowSecs,
    zone,
    signed,
    serve,
    served: (name, type) => answers.get(keyOf(name, type)) ?? [],
    txt(name, texts, ttl = 60) {
      const type = TYPES.TXT;
      const records = texts.map((text) => ({ name, type, ttl, data: longTxtData(text) }));
      serve(name, type, signed(records));
    },
    alias(kind, from, to, asked = from) {
      const record = { name: from, type: TYPES[kind], ttl: 60, data: nameBytes(to) };
      serve(asked, TYPES.TXT, signed([record]));
    },
    zskOf: keyOfZone,
    answer(request) {
      const { name, type } = questionOf(request);
      const body = answerBytes({ name, type }, answers.get(keyOf(name, type)) ?? []);
      return new Response(new Uint8Array(body), {
        headers: { 'content-type': 'application/dns-message' },
      });
    },
  };
}
