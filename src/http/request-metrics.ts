import type { Counter, Histogram, Metrics } from '../lib/metrics.ts';
import type { Route } from './route.ts';

/** Upper bounds in seconds. They separate reads, writes, payments, and waits for a payment. */
const BUCKETS_SECS = [0.001, 0.01, 0.1, 1, 10, 60];

/** The labels of all requests without a route: no label holds what a client chose (docs/decisions.md 104). */
const UNMATCHED = { route: 'unmatched', method: 'any' };

interface RequestMeter {
  /** Counts an answered request. `startedMs` is its start on the clock that was passed to {@link requestMeters}. */
  answered(httpStatus: number, startedMs: number): void;
}

interface RequestMeters {
  /** Returns the meter of a route, once for each route at the start, so that no request looks it up. */
  readonly of: (route: Route) => RequestMeter;
  readonly unmatched: RequestMeter;
}

/**
 * Registers the metrics of requests (their number and duration), and returns the meters that count them. Labels hold
 * the paths of routes, never those of requests (docs/decisions.md 104).
 */
export function requestMeters(metrics: Metrics, elapsedMs: () => number): RequestMeters {
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
  const meter = (labels: { route: string; method: string }, usual: number) =>
    new Meter(
      durations(labels),
      (status) => requests({ ...labels, status: String(status) }),
      elapsedMs,
      usual,
    );
  return {
    of: ({ path, method }) => meter({ route: path, method: method.toUpperCase() }, 200),
    unmatched: meter(UNMATCHED, 404),
  };
}

class Meter implements RequestMeter {
  readonly #duration: Histogram;
  readonly #counterOf: (status: number) => Counter;
  readonly #elapsedMs: () => number;
  readonly #usualStatus: number;
  readonly #usual: Counter;
  readonly #others = new Map<number, Counter>();

  constructor(
    duration: Histogram,
    counterOf: (status: number) => Counter,
    elapsedMs: () => number,
    usualStatus: number,
  ) {
    this.#duration = duration;
    this.#counterOf = counterOf;
    this.#elapsedMs = elapsedMs;
    this.#usualStatus = usualStatus;
    this.#usual = counterOf(usualStatus);
  }

  answered(httpStatus: number, startedMs: number): void {
    this.#duration.observe((this.#elapsedMs() - startedMs) / 1000);
    if (httpStatus === this.#usualStatus) this.#usual.inc();
    else this.#other(httpStatus).inc();
  }

  /** Only this program chooses statuses, so the map stays small. */
  #other(httpStatus: number): Counter {
    const counter = this.#others.get(httpStatus) ?? this.#counterOf(httpStatus);
    this.#others.set(httpStatus, counter);
    return counter;
  }
}
