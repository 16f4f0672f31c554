import type { Counter, Histogram, Metrics } from '../lib/metrics.ts';
import type { Route } from './route.ts';

/** Upper bounds in seconds: reads, writes, payments, and waits for a payment. */
const BUCKETS_SECS = [0.001, 0.01, 0.1, 1, 10, 60];

/** The label values of everything that no route answers: what was asked for is the client's word. */
const UNMATCHED = { route: 'unmatched', method: 'any' };

/** Counts the requests of one route. */
export interface RequestMeter {
  /** A request has been answered; `startedMs` is when it came in, on the clock that the meters were made with. */
  answered(httpStatus: number, startedMs: number): void;
}

/** The meters of an application. */
export interface RequestMeters {
  /** Of a route, made at the start: a request looks nothing up by name. */
  readonly of: (route: Route) => RequestMeter;
  readonly unmatched: RequestMeter;
}

/**
 * Registers how many requests were answered and how fast, and makes the meters that count them. Labels are the paths
 * of the route list, never those of requests.
 */
export function requestMeters(metrics: Metrics, elapsedMs: () => number): RequestMeters {
  const requests = metrics.counter({
    name: 'wallet_sidecar_http_requests_total',
    help: 'Requests answered, by the route of the reference, method and status.',
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

  /** Statuses are this program's own, so there are few. */
  #other(httpStatus: number): Counter {
    const counter = this.#others.get(httpStatus) ?? this.#counterOf(httpStatus);
    this.#others.set(httpStatus, counter);
    return counter;
  }
}
