import type { Nwc } from '../http/nwc.ts';
import { rejected } from '../model/errors.ts';
import type { Store } from '../store/ports.ts';
import { openPairings } from './pairings.ts';
import type { Service, ServiceOptions } from './service.ts';

interface NwcOptions extends Omit<ServiceOptions, 'pairings'> {
  readonly store: Store;
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
 * nothing is connected before.
 */
export function openNwc({ store, ...options }: NwcOptions): RunningNwc {
  const pairings = openPairings(store);
  let isServing = false;
  let service: Promise<Service> | null = null;
  let opened: Service | null = null;

  async function serve(): Promise<void> {
    if (!isServing) return;
    if (service === null && (await pairings.list()).length === 0) return;
    service ??= import('./service.ts').then(({ openService }) => {
      opened = openService({ pairings, ...options });
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
    async pair(credentials, relays) {
      const uri = await pairings.add(credentials, relays);
      changed();
      return uri;
    },
    relaysFor(given) {
      const relays = given ?? options.trusted;
      if (relays.length > 0) return [...new Set(relays)];
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
