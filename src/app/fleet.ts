import type { Config } from '../config/config.ts';
import { answerMisdirected, answerNotGood, lookAtArrival } from '../fleet/arrivals.ts';
import { type AnswerHere, openLeads } from '../fleet/leads.ts';
import { passedOnSeal } from '../fleet/passed-on.ts';
import { openPeerSender } from '../fleet/send.ts';
import { openStandBy } from '../fleet/stand-by.ts';
import { elapsedMs, systemClock } from '../lib/clock.ts';
import type { Marker } from '../lib/files/marker-file.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { undoAll } from '../lib/steps.ts';
import type { PostgresOptions, SeenLeader } from '../store/postgres/index.ts';
import { markerFollower } from '../wallet/budget/marker-follower.ts';
import { openStandByApp } from './http-app.ts';
import type { Answering, Listener } from './listener.ts';
import { ending, endWaits, onStopSignal } from './stop.ts';

/** How this process and the other sidecars of its database answer together (docs/decisions.md 139). */
interface Fleet {
  /** How this process waits for the database while another one leads. */
  readonly standingBy: NonNullable<PostgresOptions['standingBy']>;
  /** This process has the database from here on. Requests wait until {@link lead}. */
  take(): Promise<void>;
  /** This process leads under that fencing number and answers, also what others pass on to it. */
  lead(app: Answering, fence: string): void;
}

interface FleetOptions {
  readonly listener: Listener;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly marker: Marker;
  readonly stopping: AbortController;
  /** Called once, when this process answers requests although another one leads. */
  readonly onStandBy: () => void;
  /** Called when this process is about to end. */
  readonly onEnd: () => void;
}

/** A request waits for a sidecar that leads as long as a lease lasts, and as long as a start takes. */
const START_MS = 5000;

/** Opens it; null unless the configuration says where the other sidecars reach this one. */
export function openFleet(config: Config, options: FleetOptions): Fleet | null {
  const { database } = config;
  if (database === null || database.peerUrl === null) return null;
  const { listener, log, metrics, stopping } = options;
  const seal = passedOnSeal(database.secretsKey, { nowMs: systemClock.now, elapsedMs });
  const sender = openPeerSender();
  const leads = openLeads();
  const ready = Promise.withResolvers<AnswerHere>();
  const standBy = openStandBy({
    leads,
    sender,
    seal,
    patienceMs: database.leaseMs + START_MS,
    stopping: stopping.signal,
    onPassed: passedCounter(metrics),
  });
  metrics.gauge(
    { name: 'wallet_sidecar_leading', help: 'Whether this sidecar leads (1) or stands by (0).' },
    async () => [{ labels: {}, value: leads.current().kind === 'self' ? 1 : 0 }],
  );
  const marker = markerFollower(options.marker, { log, elapsedMs });
  const telling = tellAway(log);
  let keepSignals: (() => void) | null = null;

  function begin(): void {
    const app = openStandByApp(config, {
      standBy,
      metrics,
      log,
      baseUrl: listener.baseUrl,
      port: listener.port,
      stopping: stopping.signal,
    });
    listener.answerWith({
      fetch: (request, env) =>
        lookAtArrival(request, seal, null).kind === 'misdirected'
          ? answerMisdirected()
          : app.fetch(request, env),
    });
    keepSignals = onStopSignal(async () => {
      log.info('Stopping.');
      // What waits for a sidecar that leads ends, and what was passed on gets its time.
      const requests = ending('requests', () => listener.stop());
      await undoAll([requests, ending('waits', () => endWaits(stopping))], log);
      options.onEnd();
    });
    log.info('Another sidecar leads: this one stands by.', { url: listener.baseUrl });
    options.onStandBy();
  }

  return {
    standingBy: {
      ending: stopping.signal,
      marked: marker.marked,
      onAway: telling,
      onLook({ fence, notice, store }: SeenLeader) {
        leads.see(fence, notice ? notice.url : undefined);
        if (notice?.isTrusted) marker.follow(store);
        if (keepSignals === null) begin();
      },
    },
    async take() {
      if (keepSignals !== null) log.info('This sidecar takes over.');
      keepSignals?.();
      leads.take(ready.promise);
      await marker.settle();
    },
    lead(app, fence) {
      ready.resolve(async (request, env) => app.fetch(request, env));
      sender.close();
      listener.answerWith({
        fetch(request, env) {
          const arrival = lookAtArrival(request, seal, fence);
          if (arrival.kind === 'misdirected') return answerMisdirected();
          if (arrival.kind === 'own') return app.fetch(request, env);
          if (arrival.kind !== 'passed_on') return answerNotGood(arrival.kind);
          return app.fetch(request, { ...env, passedOn: arrival.facts });
        },
      });
    },
  };
}

function passedCounter(metrics: Metrics): (outcome: string) => void {
  const passed = metrics.counter({
    name: 'wallet_sidecar_passed_on_total',
    help: 'Requests that were sent to the sidecar that leads, by what became of it.',
    labels: ['outcome'],
  });
  return (outcome) => passed({ outcome }).inc();
}

/** Logs each time when the database cannot be reached, and when it can be again. */
function tellAway(log: Log): (isAway: boolean) => void {
  let wasAway = false;
  return (isAway) => {
    if (isAway && !wasAway) {
      log.warn('The database cannot be reached, so this sidecar cannot take over until it can.');
    }
    if (!isAway && wasAway) log.info('The database can be reached again.');
    wasAway = isAway;
  };
}
