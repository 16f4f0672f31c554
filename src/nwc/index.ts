import type { Nwc } from '../http/nwc.ts';
import { rejected } from '../model/errors.ts';
import type { Store } from '../store/ports.ts';
import { isPublicKey, openPairings } from './pairings.ts';
import type { Service, ServiceOptions } from './service.ts';

interface NwcOptions extends Omit<ServiceOptions, 'pairings' | 'begun'> {
  readonly store: Store;
  readonly trusted: readonly string[];
}

/** What the process does with pairings besides what routes need. */
export interface RunningNwc extends Nwc {
  /** Begins to serve the pairings that there are. */
  start(): Promise<void>;
  stop(): void;
  /** The relays in use, and whether each is connected. */
  relays(): readonly {
    readonly url: string;
    readonly isOpen: boolean;
    readonly failures: number;
  }[];
}

/**
 * Opens Nostr Wallet Connect (NIP-47, docs/decisions.md 200). What serves it is loaded when there is a pairing, and
 * nothing is connected before. Must be opened before wallets are: a payment whose end they find is no longer known as
 * begun, and its application waits.
 */
export async function openNwc({ store, trusted, ...options }: NwcOptions): Promise<RunningNwc> {
  const pairings = openPairings(store);
  const begun = await pairings.begun();
  let isServing = false;
  let service: Promise<Service> | null = null;
  let opened: Service | null = null;

  async function serve(): Promise<void> {
    if (!isServing) return;
    if (service === null && (await pairings.list()).length === 0) return;
    service ??= import('./service.ts').then(({ openService }) => {
      opened = openService({ pairings, begun, ...options });
      if (!isServing) opened.stop();
      return opened;
    });
    await (await service).refresh();
  }
  const changed = () =>
    void serve().catch((error) =>
      options.log.warn('Nostr Wallet Connect could not be served.', { error }),
    );
  return {
    changed,
    async pair(credentials, terms) {
      const uri = await pairings.add(credentials, terms);
      changed();
      return terms.app === undefined ? { nwc_uri: uri } : {};
    },
    termsFor({ relays = trusted, app }) {
      if (app !== undefined && !isPublicKey(app)) throw rejected('nwc.app', 'must be a public key');
      if (relays.some(options.reach.isRefused))
        throw rejected(
          'nwc.relays',
          'must be those of --nwc-relay, since with --node-proxy nobody can check others',
        );
      if (relays.length > 0) return { relays: [...new Set(relays)], app };
      throw rejected('nwc.relays', 'is required: this sidecar was started without --nwc-relay');
    },
    async start() {
      isServing = true;
      changed();
    },
    stop() {
      isServing = false;
      opened?.stop();
    },
    relays: () => opened?.relays() ?? [],
  };
}
