import { METRICS_CONTENT_TYPE, type Metrics } from '../lib/metrics.ts';
import type { Route } from './route.ts';

/** Upper bounds in seconds. They separate reads, writes, payments, and waits for a payment. */
const BUCKETS_SECS = [0.001, 0.01, 0.1, 1, 10, 60];

/** The labels of all requests without a route: no label holds what a client chose (docs/decisions.md 104). */
const UNMATCHED = { route: 'unmatched', method: 'any' };

/**
 * Registers the metrics of requests (their number and duration), and returns the meters that count them: `of` makes
 * that of a route, once at the start, so that no request looks it up. Labels hold the paths of routes, never those of
 * requests (docs/decisions.md 104).
 */
export function requestMeters(metrics: Metrics, elapsedMs: () => number) {
  const requests = metrics.counter({
    name: 'wallet_sidecar_http_requests_total',
    help: 'Requests answered, by route, method and status.',
    labels: ['route', 'method', 'status'],
  });
  const durations = metrics.histogram({
    name: 'wallet_sidecar_http_request_duration_seconds',
    help: 'Time until a request was answered; of streams, until they were open.',
    labels: ['route', 'method'],
    buckets: BUCKETS_SECS,
  });
  const meter = (labels: { route: string; method: string }, usualStatus: number) => {
    const duration = durations(labels);
    const counterOf = (status: number) => requests({ ...labels, status: String(status) });
    /** Only this program chooses statuses, so the map stays small. */
    const counters = new Map([[usualStatus, counterOf(usualStatus)]]);
    return {
      /** Counts an answered request. `startedMs` is its start on the clock that was passed above. */
      answered(httpStatus: number, startedMs: number): void {
        duration.observe((elapsedMs() - startedMs) / 1000);
        const counter = counters.get(httpStatus) ?? counterOf(httpStatus);
        counters.set(httpStatus, counter);
        counter.inc();
      },
    };
  };
  return {
    of: ({ path, method }: Route) => meter({ route: path, method: method.toUpperCase() }, 200),
    unmatched: meter(UNMATCHED, 404),
  };
}

/** Returns the answer with the metrics of this process. */
export async function answerMetrics(metrics: Metrics): Promise<Response> {
  return new Response(await metrics.render(), {
    headers: { 'content-type': METRICS_CONTENT_TYPE },
  });
}
