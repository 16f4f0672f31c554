import type { NodeCredentials } from '../../model/credentials.ts';
import { ApiError, refused } from '../../model/errors.ts';
import type { ProxyAddress } from '../../model/proxy-address.ts';
import type { RemoteLocation } from '../remote/location.ts';
import type { ConnectorRows, RemoteOptions } from '../remote-kind.ts';
import { type LndIdentity, userPkOf } from './identity.ts';
import { type Macaroon, readMacaroon } from './macaroon.ts';
import { MovingPlace, type PlaceNow } from './moving-place.ts';
import { LndPlace, type PlaceContext } from './place.ts';
import type { RootKeyIds } from './tokens.ts';

/** A configured entry with its place. */
interface OpenedEntry {
  readonly credentials: NodeCredentials;
  readonly place: MovingPlace;
  /** The content of the entry's token; null when it is not a macaroon, or may not be used as an entry. */
  readonly macaroon: Macaroon | null;
}

/** The places that the configuration names. */
export interface Places {
  readonly root: MovingPlace | null;
  /** The place of a configured entry. Throws {@link ApiError} when it cannot be used. */
  entry(credentials: NodeCredentials): { place: MovingPlace; macaroon: Macaroon };
  /** The place that speaks for a wallet. Throws `unreachable` when there is none. */
  speakingFor(userPk: string): Promise<{ place: MovingPlace; identity: LndIdentity }>;
  problems(): readonly string[];
}

interface PlacesOptions {
  readonly state: ConnectorRows;
  readonly random: (bytes: number) => Uint8Array;
  readonly root: RemoteLocation | null;
  readonly entries: readonly NodeCredentials[];
  readonly proxy: ProxyAddress | null;
  readonly reread?: RemoteOptions['reread'];
}

/** Opens the configured places without connecting to any of them. */
export function openPlaces(
  { state, random, root: rootLocation, entries, proxy, reread }: PlacesOptions,
  ids: RootKeyIds,
): Places {
  const speakers = new Map<string, LndPlace>();
  const context: PlaceContext = {
    state,
    random,
    proxy,
    claim(nodePk, place) {
      const speaker = speakers.get(nodePk) ?? place;
      speakers.set(nodePk, speaker);
      return speaker === place;
    },
    lost: (place) => places.find(({ now }) => now === place)?.follow(),
  };
  const moved = (before: LndPlace, after: LndPlace) => {
    for (const [nodePk, speaker] of speakers) if (speaker === before) speakers.set(nodePk, after);
  };
  const opened = entries.map((credentials): OpenedEntry => {
    const { place, macaroon } = openEntry(credentials, context, ids);
    const now = () => locatedAt(reread?.entry(credentials) ?? null, credentials);
    return { credentials, macaroon, place: new MovingPlace(place, now, moved) };
  });
  for (const { credentials, place } of opened) {
    if (credentials.nodePk !== null) context.claim(credentials.nodePk, place.now);
  }
  const root =
    rootLocation &&
    new MovingPlace(
      new LndPlace(rootLocation, context, { ownToken: null, declared: null, keyMayChange: true }),
      () => {
        const location = reread?.root() ?? null;
        return location && { location, token: null };
      },
      moved,
    );
  const places = [...(root ? [root] : []), ...opened.map(({ place }) => place)];

  /**
   * The wallet of a place, or null. A place that was never reached is asked now, except the root seed's, which waits
   * for the seed.
   */
  async function identityOf(place: MovingPlace): Promise<LndIdentity | null> {
    const known = await place.now.known();
    if (known !== null || place === root) return known;
    return place.now.prove().catch(() => null);
  }

  return {
    root,
    entry(credentials) {
      const found = opened.find((entry) => isSame(entry.credentials, credentials));
      if (found === undefined) {
        throw new ApiError(
          'unauthenticated',
          'These node credentials are not configured: start the sidecar with them.',
        );
      }
      const { place, macaroon } = found;
      if (macaroon === null)
        throw refused(place.now.problem ?? 'The configured macaroon is unusable.');
      return { place, macaroon };
    },
    async speakingFor(userPk) {
      const usable = opened.filter(({ macaroon }) => macaroon !== null).map(({ place }) => place);
      for (const place of [...(root ? [root] : []), ...usable]) {
        const identity = await identityOf(place);
        if (identity && userPkOf(identity.nodePk) === userPk) return { place, identity };
      }
      throw new ApiError(
        'unreachable',
        "No configured node holds this wallet: add its node's credentials to the configuration.",
      );
    },
    problems: () => places.flatMap(({ now }) => now.problem ?? []),
  };
}

function openEntry(
  credentials: NodeCredentials,
  context: PlaceContext,
  ids: RootKeyIds,
): { place: LndPlace; macaroon: Macaroon | null } {
  const { nodePk, network, token } = credentials;
  const place = new LndPlace(credentials, context, {
    ownToken: token,
    declared: nodePk !== null && network !== null ? { nodePk, network } : null,
    keyMayChange: false,
  });
  const macaroon = readMacaroon(token);
  if (macaroon === null) {
    place.markUnusable('its configured macaroon is not one of LND: run `connect lnd` again.');
    return { place, macaroon: null };
  }
  if (ids.owns(macaroon.rootKeyId)) {
    place.markUnusable(
      'its configured macaroon was made by this sidecar for a client: run `connect lnd` with one of your own.',
    );
    return { place, macaroon: null };
  }
  return { place, macaroon };
}

/** What the file of an entry says now; null when it is for another node. */
function locatedAt(now: NodeCredentials | null, given: NodeCredentials): PlaceNow | null {
  if (now === null) return null;
  if (now.kind !== given.kind) return null;
  if (now.nodePk !== null && given.nodePk !== null && now.nodePk !== given.nodePk) return null;
  return { location: now, token: now.token };
}

function isSame(a: NodeCredentials, b: NodeCredentials): boolean {
  return a.url === b.url && a.cert === b.cert && a.token === b.token && a.nodePk === b.nodePk;
}
