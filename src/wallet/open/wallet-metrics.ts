import type { Clock } from '../../lib/clock.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { FEED_STATES } from '../session/feed-standing.ts';
import type { Wallets } from './wallets.ts';

/** Registers the metrics of open wallets, sessions and feeds, and how far updates are behind. */
export function walletMetrics(metrics: Metrics, wallets: Wallets, clock: Clock): void {
  metrics.gauge(
    { name: 'wallet_sidecar_open_wallets', help: 'Wallets that are kept open.' },
    async () => [{ labels: {}, value: wallets.figures().wallets }],
  );
  metrics.gauge(
    { name: 'wallet_sidecar_open_sessions', help: 'Credentials that are kept open.' },
    async () => [{ labels: {}, value: wallets.figures().sessions }],
  );
  metrics.gauge(
    {
      name: 'wallet_sidecar_open_feeds',
      help: 'Update feeds that are open, by how they stand.',
      labels: ['state'],
    },
    async () => {
      const { feeds } = wallets.figures();
      return FEED_STATES.map((state) => ({
        labels: { state },
        value: feeds.filter((feed) => feed.state === state).length,
      }));
    },
  );
  metrics.gauge(
    {
      name: 'wallet_sidecar_feed_lag_seconds',
      help: 'For how long an open feed has been behind; the longest of them, 0 when none is.',
    },
    async () => {
      const behind = wallets.figures().feeds.filter(({ state }) => state === 'behind');
      const nowMs = clock.now();
      return [
        { labels: {}, value: Math.max(0, ...behind.map(({ sinceMs }) => nowMs - sinceMs)) / 1000 },
      ];
    },
  );
}
