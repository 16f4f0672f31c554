import { z } from 'zod';
import { METRICS_CONTENT_TYPE } from '../../lib/metrics.ts';
import { answerMetrics } from '../request-metrics.ts';
import { get } from '../route.ts';

/** Metrics for Prometheus, where the configuration allows them. Each sidecar of a database tells its own. */
export const metricsRoutes = [
  get('/metrics', 'health', {
    access: 'public',
    summary: 'Show metrics for Prometheus',
    description:
      'Text format 0.0.4: counts, durations and states of the whole process. It names no wallet, client or payment. Served while the sidecar listens on loopback, or with `--metrics on`.',
    mediaType: METRICS_CONTENT_TYPE,
    response: () => z.string(),
    example: {
      response:
        '# HELP wallet_sidecar_http_requests_total Requests answered, by route, method and status.\n# TYPE wallet_sidecar_http_requests_total counter\nwallet_sidecar_http_requests_total{route="/v2/health",method="GET",status="200"} 12\n',
    },
    handler: ({ parts }) => answerMetrics(parts.metrics),
  }),
];
