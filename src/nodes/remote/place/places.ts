import type { NodeCredentials } from '../../../model/credentials.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import type { ConfiguredGrant } from '../../connector.ts';
import type { RemoteOptions } from '../../remote-kind.ts';
import { type NodeIdentity, userPkOf } from './identity.ts';
import { MovingPlace, type PlaceNow } from './moving-place.ts';
import { Place, type PlaceContext } from './place.ts';
import type { PlaceProtocol, RemoteProtocol } from './protocol.ts';

interface OpenedEntry<Client> {
  readonly credentials: NodeCredentials;
  readonly place: MovingPlace<Client>;
  /** What its token allows; null when that is not one of this kind, or may not be used as an entry. */
  readonly grant: ConfiguredGrant | null;
}

interface Places<Client> {
  readonly root: MovingPlace<Client> | null;
  /** The place of a configured entry. Throws {@link ApiError} when it cannot be used. */
  entry(credentials: NodeCredentials): { place: MovingPlace<Client>; grant: ConfiguredGrant };
  /** The place that speaks for a wallet. Throws `unreachable` when there is none. */
  speakingFor(userPk: string): Promise<{ place: MovingPlace<Client>; identity: NodeIdentity }>;
  problems(): readonly string[];
}

/** What places must know of their kind. */
export interface PlacesKind<Client, Token> {
  readonly protocol: RemoteProtocol<Client, Token>;
  /** How the root seed's place is spoken to; as the others where absent. */
  readonly rootSeed?: PlaceProtocol<Client>;
  readonly isOfClient: (token: Token) => boolean;
}

/** Opens the configured places without connecting to any of them. */
export function openPlaces<Client, Token>(
  { state, random, root: rootLocation, entries, proxy, reread }: RemoteOptions,
  kind: PlacesKind<Client, Token>,
): Places<Client> {
  const { protocol } = kind;
  const speakers = new Map<string, Place<Client>>();
  const context: PlaceContext<Client> = {
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
  const moved = (before: Place<Client>, after: Place<Client>) => {
    for (const [nodePk, speaker] of speakers) if (speaker === before) speakers.set(nodePk, after);
  };
  const opened = entries.map((credentials): OpenedEntry<Client> => {
    const { place, token } = openEntry(kind, credentials, context);
    const now = () => {
      const found = locatedAt(reread?.entry(credentials) ?? null, credentials);
      return found && usableToken(kind, found.token) && found;
    };
    const moving = new MovingPlace(place, now, moved);
    return { credentials, grant: token && grantAt(protocol, moving, token), place: moving };
  });
  for (const { credentials, place } of opened) {
    if (credentials.nodePk !== null) context.claim(credentials.nodePk, place.now);
  }
  const root =
    rootLocation &&
    new MovingPlace(
      new Place(kind.rootSeed ?? protocol, rootLocation, context, {
        ownToken: null,
        declared: null,
        keyMayChange: true,
      }),
      () => {
        const location = reread?.root() ?? null;
        return location && { location, token: null };
      },
      moved,
    );
  const places = [...(root ? [root] : []), ...opened.map(({ place }) => place)];

  /** The wallet of a place, or null. One never reached is asked now, but for the root seed's. */
  async function identityOf(place: MovingPlace<Client>): Promise<NodeIdentity | null> {
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
      const { place, grant } = found;
      if (grant === null) {
        throw refused(place.now.problem ?? `The configured ${protocol.tokenName} is unusable.`);
      }
      return { place, grant };
    },
    async speakingFor(userPk) {
      const usable = opened.filter(({ grant }) => grant !== null).map(({ place }) => place);
      for (const place of [...(root ? [root] : []), ...usable]) {
        const identity = await identityOf(place);
        if (identity && userPkOf(protocol.kind, identity.nodePk) === userPk) {
          return { place, identity };
        }
      }
      throw new ApiError(
        'unreachable',
        "No configured node holds this wallet: add its node's credentials to the configuration.",
      );
    },
    problems: () => places.flatMap(({ now }) => now.problem ?? []),
  };
}

function openEntry<Client, Token>(
  kind: PlacesKind<Client, Token>,
  credentials: NodeCredentials,
  context: PlaceContext<Client>,
): { place: Place<Client>; token: Token | null } {
  const { protocol } = kind;
  const { nodePk, network, token: ownToken } = credentials;
  const place = new Place(protocol, credentials, context, {
    ownToken,
    declared: nodePk !== null && network !== null ? { nodePk, network } : null,
    keyMayChange: false,
  });
  const { title, tokenName } = protocol;
  if (protocol.readToken(ownToken) === null) {
    place.markUnusable(
      `its configured ${tokenName} is not one of ${title}: run \`connect ${protocol.kind}\` again.`,
    );
    return { place, token: null };
  }
  const token = usableToken(kind, ownToken);
  if (token === null) {
    place.markUnusable(
      `its configured ${tokenName} was made by this sidecar for a client: run \`connect ${protocol.kind}\` with one of your own.`,
    );
    return { place, token: null };
  }
  return { place, token };
}

/** The content of an entry's token; null for one that is not of the kind, or that this sidecar made for a client. */
function usableToken<Token>(
  {
    protocol,
    isOfClient,
  }: Pick<PlacesKind<never, Token>, 'isOfClient'> & {
    readonly protocol: Pick<RemoteProtocol<never, Token>, 'readToken'>;
  },
  text: string,
): Token | null {
  const token = protocol.readToken(text);
  return token === null || isOfClient(token) ? null : token;
}

/** What the token of a place allows, which begins with `first` and changes with the place. */
function grantAt<Client, Token>(
  protocol: RemoteProtocol<Client, Token>,
  place: MovingPlace<Client>,
  first: Token,
): ConfiguredGrant {
  let read = { text: place.now.ownToken, grant: protocol.grantOf(first) };
  const now = () => {
    const text = place.now.ownToken;
    const token = text === null || text === read.text ? null : protocol.readToken(text);
    if (token !== null) read = { text, grant: protocol.grantOf(token) };
    return read.grant;
  };
  return {
    now,
    reread() {
      place.follow();
      return now();
    },
  };
}

/** What the file of an entry says now; null when it is for another node. */
function locatedAt(
  now: NodeCredentials | null,
  given: NodeCredentials,
): (PlaceNow & { readonly token: string }) | null {
  if (now === null) return null;
  if (now.kind !== given.kind) return null;
  if (now.nodePk !== null && given.nodePk !== null && now.nodePk !== given.nodePk) return null;
  return { location: now, token: now.token };
}

function isSame(a: NodeCredentials, b: NodeCredentials): boolean {
  return a.url === b.url && a.cert === b.cert && a.token === b.token && a.nodePk === b.nodePk;
}
