import { recordName, recordText } from '../../codecs/human-bitcoin-address.ts';
import { ApiError } from '../../model/errors.ts';
import type { HumanBitcoinAddress } from '../../model/receive.ts';
import type { NameRecord } from '../../store/ports.ts';
import { createOffer } from '../receive/receive.ts';
import { nodeInfo, type OnNode, type ServedWallet, type Session } from '../session/session.ts';
import type { Names } from './names.ts';
import { decideClaim, isUpdatable, type NameClaim } from './rules.ts';

/** Returns the wallet's name. Throws `notFound` when none is claimed, `unsupported` when none are served. */
export async function nameOf(
  session: OnNode & Pick<Session, 'userPk'>,
  served: Names | null,
): Promise<HumanBitcoinAddress> {
  const names = requireServed(session, served);
  const record = await names.store.names.ofWallet(session.userPk);
  if (record) return addressOf(record, names, session.node.clock.now());
  throw new ApiError(
    'notFound',
    'This wallet has no Human Bitcoin Address yet: claim one with PUT human_bitcoin_address.',
  );
}

/**
 * Claims or changes the wallet's Human Bitcoin Address, by the rules of {@link decideClaim}. Where the node has offers,
 * each name gets one of its own, and every payment that arrives on it is watched; offers of names that were given up
 * can still be paid.
 */
export async function claimUsername(
  session: OnNode & Pick<Session, 'userPk' | 'locks'>,
  served: Names | null,
  username: string,
): Promise<HumanBitcoinAddress> {
  const names = requireServed(session, served);
  const { userPk, node, locks } = session;
  const wanted = { walletId: userPk, nodeKind: node.descriptor.kind, username };
  const record = await locks.run('name', async () => {
    const current = await names.store.names.ofWallet(userPk);
    if (current?.username === username) return current;
    return names.wallets.asOwner(userPk, wanted.nodeKind, (wallet) =>
      claim(names, wallet, wanted, current),
    );
  });
  return addressOf(record, names, node.clock.now());
}

async function claim(
  { store, domain }: Names,
  wallet: ServedWallet,
  wanted: Pick<NameClaim, 'walletId' | 'nodeKind' | 'username'>,
  current: NameRecord | null,
): Promise<NameRecord> {
  const { walletId, username } = wanted;
  const { lightningBalanceMsat, onchainBalanceMsat } = await nodeInfo(wallet);
  const nowMs = wallet.node.clock.now();
  const balanceMsat = lightningBalanceMsat + onchainBalanceMsat;
  const claimed = { ...wanted, domain, balanceMsat, offer: null, nowMs };
  // The rules are applied before an offer is made, and again when the name is written: others claim names meanwhile.
  decideClaim(claimed, { current, holder: await store.names.find(username) });
  const terms = {
    description: `${username}@${domain}`,
    minAmountMsat: null,
    expirationSecs: null,
    externalId: null,
  };
  const offer = wallet.node.offers ? await createOffer(wallet, terms) : null;
  return store.names.claim(walletId, username, (standing) =>
    decideClaim({ ...claimed, offer }, standing),
  );
}

/**
 * The text of the TXT record of a username under the domain of all names (BIP 353), or null when it is not claimed or
 * stands for no offer. Letter case and a dot at the end of `dnsName` do not matter.
 */
export async function zoneText({ store, domain }: Names, dnsName: string): Promise<string | null> {
  const name = dnsName.toLowerCase().replace(/\.$/, '');
  const suffix = recordName({ username: '', domain: domain.toLowerCase() });
  if (!name.endsWith(suffix)) return null;
  const record = await store.names.find(name.slice(0, -suffix.length));
  return record?.offer ? recordText(record.offer) : null;
}

function addressOf(record: NameRecord, { domain }: Names, nowMs: number): HumanBitcoinAddress {
  const { username, offer } = record;
  return { username, domain, offer, updatable: isUpdatable(record, nowMs) };
}

function requireServed({ node }: OnNode, names: Names | null): Names {
  if (names) return names;
  const { kind } = node.descriptor;
  throw new ApiError(
    'unsupported',
    `This sidecar has no domain for names of wallets on ${kind}: start it with --address-domain.`,
    { data: { node: kind } },
  );
}
