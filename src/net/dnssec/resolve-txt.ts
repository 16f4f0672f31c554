import {
  type DnsName,
  dnsName,
  isBelow,
  readAlias,
  readTxt,
  TYPE,
} from '../../codecs/dns/index.ts';
import { type Chain, type ChainOptions, openChain } from './chain.ts';
import type { CarriedRecords } from './record-set.ts';
import { shown, Unproven } from './unproven.ts';

/** TXT records with their proof. */
export interface ProvenTxt {
  /** The bytes of each record; the strings of one record are joined. */
  readonly texts: readonly Uint8Array[];
  /** For how many seconds the proof is valid. */
  readonly holdsSecs: number;
}

/** The most aliases that are followed from a name to its record. */
const MAX_ALIASES = 8;

/**
 * Returns the TXT records of a name, proven from the keys of the root; null when the source has none. Signed aliases
 * are followed (docs/decisions.md 98). That there is no record is not proven: a source can always withhold records.
 * Throws {@link Unproven}, CodecError('dns') for records that cannot be read, and the errors of the source.
 */
export async function resolveTxt(name: DnsName, options: ChainOptions): Promise<ProvenTxt | null> {
  const chain = openChain(options);
  let owner = name;
  let asked = owner;
  let carried = await options.source(owner, TYPE.TXT);
  for (let aliases = 0; aliases <= MAX_ALIASES; ) {
    const texts = carried.at(owner, TYPE.TXT);
    const target = await aliasOf(owner, carried, chain);
    if (target !== null) {
      if (texts.records.length > 0) {
        throw new Unproven(`${shown(owner)} is both an alias and a record, so it cannot be used.`);
      }
      owner = target;
      aliases += 1;
    } else if (texts.records.length > 0) {
      await chain.prove(texts, carried);
      const strings = texts.records.map(({ data }) => readTxt(data));
      return { texts: strings, holdsSecs: chain.holdsSecs() };
    } else if (asked === owner) {
      return null;
    } else {
      asked = owner;
      carried = await options.source(owner, TYPE.TXT);
    }
  }
  throw new Unproven(
    `${shown(name)} leads through too many aliases, or in a circle, so it cannot be used.`,
  );
}

/** The target of a signed alias, or null; DNAME first: a CNAME made from it is never signed (RFC 6672). */
async function aliasOf(
  owner: DnsName,
  carried: CarriedRecords,
  chain: Chain,
): Promise<DnsName | null> {
  const above = carried
    .ofTypes(TYPE.DNAME)
    .find(({ name, records }) => records.length > 0 && isBelow(owner, name));
  const set = above ?? carried.at(owner, TYPE.CNAME);
  const [alias, second] = set.records;
  if (alias === undefined) return null;
  if (second) throw new Unproven(`${shown(set.name)} has two aliases, so it cannot be used.`);
  await chain.prove(set, above ? null : carried);
  const target = readAlias(alias.data);
  return above ? dnsName([...owner.slice(0, owner.length - above.name.length), ...target]) : target;
}
