import { z } from 'zod';
import type { Network } from '../../../codecs/network.ts';
import type { Clock } from '../../../lib/clock.ts';
import { once } from '../../../lib/once.ts';
import type { ChainServer } from '../../../model/web-url.ts';
import type { ConnectorRows } from '../../remote-kind.ts';
import { checkedEsplora } from './esplora.ts';

/** The kind of the row that keeps the greatest height that was seen. */
const CHAIN_ROWS = 'ldk_chain';

interface ChainOptions {
  readonly chain: ChainServer;
  readonly network: Network;
  readonly state: Pick<ConnectorRows, 'get' | 'put'>;
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
}

/** Where the helper reads the chain. */
export interface ChainSource {
  /** What the helper is told. */
  readonly server: ChainServer;
  /** What is wrong with the server, as sentences for health. */
  problems(): readonly string[];
  close(): Promise<void>;
}

const heightShape = once(() => z.int().min(0));

/** Returns the source of the chain: an Esplora through the checks of its answers, an Electrum server as it is. */
export function chainSource({ chain, network, state, ...rest }: ChainOptions): ChainSource {
  if (!('esplora' in chain)) {
    return { server: chain, problems: () => [], close: async () => undefined };
  }
  const place = `ldk/${network}`;
  const { url, problems, close } = checkedEsplora({
    ...{ url: chain.esplora, network, ...rest },
    async highest() {
      const kept = heightShape().safeParse(await state.get(place, CHAIN_ROWS, 'highest'));
      return kept.success ? kept.data : 0;
    },
    keepHighest: (height) => state.put(place, CHAIN_ROWS, 'highest', height),
  });
  return { server: { esplora: url }, problems, close };
}
