import { elapsedMs as machineElapsedMs } from '../../../lib/clock.ts';
import { keyedLock } from '../../../lib/keyed-lock.ts';
import { isApiError } from '../../../model/errors.ts';
import type { ClientToken, ConfiguredGrant, NodeConnector, WalletNode } from '../../node.ts';
import type { RemoteOptions } from '../../remote-kind.ts';
import { type NodeIdentity, userPkOf } from './identity.ts';
import { LocalChanges } from './local-changes.ts';
import type { MovingPlace } from './moving-place.ts';
import { openPlaces, type PlacesKind } from './places.ts';
import { Sendable } from './sendable.ts';
import type { RemoteWallet } from './wallet.ts';

interface ConnectorKind<Client, Token, Wallet extends RemoteWallet>
  extends PlacesKind<Client, Token> {
  /** A wallet with what this kind keeps of it. It is called once for each wallet. */
  readonly walletOf: (wallet: RemoteWallet) => Wallet;
  /** The node port of a wallet for one token; `client` makes its calls. */
  readonly nodeOf: (wallet: Wallet, client: Client, place: MovingPlace<Client>) => WalletNode;
}

/** The part of a connector that is the same for every kind of node that runs outside the sidecar. */
interface RemoteConnector<Client> {
  readonly connector: Omit<NodeConnector, 'connectRoot' | 'signup' | 'provision'>;
  /** The root seed's place; null where the seed controls no node of this kind. */
  readonly root: MovingPlace<Client> | null;
  /** Opens the wallet at a place with the place's own token, and everything allowed. */
  readonly asOwner: (
    place: MovingPlace<Client>,
    identity: NodeIdentity,
  ) => Awaited<ReturnType<NodeConnector['connectOwner']>>;
}

/** Opens the configured places and what connects to them. It connects to no node before the first request needs one. */
export function openConnector<Client, Token, Wallet extends RemoteWallet>(
  options: RemoteOptions,
  kind: ConnectorKind<Client, Token, Wallet>,
): RemoteConnector<Client> {
  const { clock, random, elapsedMs = machineElapsedMs } = options;
  const closed = new AbortController();
  const wallets = new Map<string, Wallet>();
  const places = openPlaces(options, kind);

  function walletOf({ nodePk, network }: NodeIdentity): Wallet {
    const userPk = userPkOf(kind.protocol.kind, nodePk);
    const known = wallets.get(userPk);
    if (known) return known;
    const wallet = kind.walletOf({
      userPk,
      nodePk,
      network,
      clock,
      elapsedMs,
      random,
      rows: options.state,
      locks: keyedLock(),
      local: new LocalChanges(),
      sendable: new Sendable(elapsedMs),
      closed: closed.signal,
    });
    wallets.set(userPk, wallet);
    return wallet;
  }

  function opened(
    place: MovingPlace<Client>,
    identity: NodeIdentity,
    client: Client,
    grant: ConfiguredGrant | null,
  ) {
    const wallet = walletOf(identity);
    return { userPk: wallet.userPk, node: kind.nodeOf(wallet, client, place), grant };
  }

  /**
   * Tells that a client's token has ended. The call that was not accepted may have had an earlier one, which a changed
   * grant has replaced, so the present one is asked about by itself.
   */
  async function tellEnded(
    place: MovingPlace<Client>,
    token: () => ClientToken,
    ended: ((tokenId: string) => void) | undefined,
  ): Promise<void> {
    const asked = token();
    const isEnded = await kind.protocol.identify(place.with(() => asked.token)).then(
      () => false,
      (error: unknown) => isApiError(error, 'unauthenticated'),
    );
    if (isEnded) ended?.(asked.id);
  }

  const asOwner: RemoteConnector<Client>['asOwner'] = (place, identity) =>
    opened(place, identity, place.owner(), null);

  return {
    root: places.root,
    asOwner,
    connector: {
      async connectConfigured(entry) {
        const { place, grant } = places.entry(entry);
        const identity = (await place.now.known()) ?? (await place.now.prove());
        return opened(place, identity, place.owner(), grant);
      },
      async connectClient(userPk, token, ended) {
        const { place, identity } = await places.speakingFor(userPk);
        const client = place.with(
          () => token().token,
          () => void tellEnded(place, token, ended).catch(() => undefined),
        );
        return opened(place, identity, client, null);
      },
      async connectOwner(userPk) {
        const { place, identity } = await places.speakingFor(userPk);
        return asOwner(place, identity);
      },
      problems: () => places.problems(),
      async close() {
        closed.abort();
      },
    },
  };
}
