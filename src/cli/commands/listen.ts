import { randomBytes } from 'node:crypto';
import { Option } from 'commander';
import { z } from 'zod';
import { ERROR_CODES, type WalletSidecar, WalletSidecarError } from '../../client/index.ts';
import { printable, printableJson } from '../../lib/printable.ts';
import { sleep } from '../../lib/sleep.ts';
import { type AttemptJson, attemptJson, type WebhookEvent } from '../../model/webhooks/delivery.ts';
import { endpointJson } from '../../model/webhooks/webhook-endpoint.ts';
import { type Asking, asking, optionWord } from '../command.ts';
import { connectionOf, isLocal } from '../connection.ts';
import type { AskSidecar } from '../http.ts';
import { readWebUrl } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { eventsFlag } from '../options.ts';
import { moment } from '../terminal/words.ts';

/** How long the endpoint outlives a `listen` that was killed, in seconds, and how often it is renewed. */
const LEASE_SECS = 60;
const LOOKS_PER_RENEWAL = 20;
const LOOK_EVERY_MS = 500;
const MOST_AT_ONCE = 100;
const GONE = z.literal('gone');
/** Statuses while the sidecar stops or starts: its new cookie may not be written yet. */
const AWAY: readonly number[] = [401, 503];

const attemptsJson = z.object({ attempts: z.array(attemptJson()) });

interface Forwarding {
  readonly url: string;
  readonly events: readonly WebhookEvent[] | undefined;
}

/** Adds `listen`, which has an endpoint for as long as it runs. */
export const addListen = asking(
  'listen',
  {
    about:
      "Send webhooks of the wallet's payments to a URL for as long as this command runs, and print a line for each attempt. The sidecar sends them, so the URL is reached from its machine.",
    words: {
      url: optionWord<string>(() =>
        new Option('--forward-to <url>', 'where to send them')
          .argParser(readWebUrl)
          .makeOptionMandatory(),
      ),
      events: eventsFlag,
    },
    examples: [
      'listen --forward-to http://127.0.0.1:3000/hook',
      'listen --forward-to http://127.0.0.1:3000/hook --events payment.finalized',
    ],
  },
  async (given, asking) => {
    const { io, command, flags } = asking;
    if (isLocal(given.url) && !isLocal(connectionOf(io, flags).baseUrl)) {
      command.error(
        "the sidecar runs on another machine and would send to its own loopback: give a URL of this machine that it can reach with '--forward-to'",
      );
    }
    const ended = new AbortController();
    const end = () => ended.abort();
    process.once('SIGINT', end);
    process.once('SIGTERM', end);
    await new Listener(asking, given).run(ended.signal);
  },
);

class Listener {
  readonly #io: CliIo;
  readonly #json: boolean;
  /** Each call makes a client of its own: the cookie is another one after a restart of the sidecar. */
  readonly #ask: AskSidecar;
  readonly #forwarding: Forwarding;
  /** Drawn here, so that it stays the same when the endpoint has to be made anew. */
  readonly #secret = `whsec_${randomBytes(32).toString('base64')}`;
  #endpoint = '';
  /** The number of the last attempt that was printed. */
  #after = 0;
  #isAway = false;

  constructor({ io, flags, ask }: Asking, forwarding: Forwarding) {
    this.#io = io;
    this.#json = flags.json ?? false;
    this.#ask = ask;
    this.#forwarding = forwarding;
  }

  /** Listens until `ended` aborts, and deletes the endpoint then. */
  async run(ended: AbortSignal): Promise<void> {
    await this.#open();
    const ready = { signing_secret: this.#secret, endpoint: this.#endpoint };
    this.#io.stdout(this.#json ? JSON.stringify(ready) : `Signing secret: ${this.#secret}`);
    this.#io.stderr(`Webhooks are sent to ${printable(this.#forwarding.url)}. Ctrl-C ends it.`);
    for (let look = 1; !ended.aborted; look++) {
      await this.#printNew();
      if (look % LOOKS_PER_RENEWAL === 0) await this.#renew();
      await sleep(LOOK_EVERY_MS, ended);
    }
    await this.#printNew();
    await this.#close();
  }

  async #open(): Promise<void> {
    const { value } = await this.#ask(
      (sidecar) =>
        sidecar.addWebhookEndpoint({
          ...this.#forwarding,
          secret: this.#secret,
          description: 'wallet-sidecar listen',
          lease_secs: LEASE_SECS,
        }),
      endpointJson(),
    );
    this.#endpoint = value.id;
  }

  async #printNew(): Promise<void> {
    const query = { endpoint: this.#endpoint, limit: MOST_AT_ONCE };
    const answer = await this.#try(
      (sidecar) => sidecar.webhookAttempts({ ...query, after: this.#after }),
      attemptsJson,
    );
    for (const attempt of answer?.attempts ?? []) {
      this.#after = attempt.number;
      this.#io.stdout(this.#json ? printableJson(JSON.stringify(attempt)) : lineOf(attempt));
    }
  }

  /** Keeps the endpoint. It is made anew where the sidecar was away for longer than the lease. */
  async #renew(): Promise<void> {
    const lease = { id: this.#endpoint, lease_secs: LEASE_SECS };
    const kept = await this.#try(
      (sidecar) => sidecar.renewWebhookEndpoint(lease).catch(goneWhereNotFound),
      endpointJson().or(GONE),
    );
    if (kept !== GONE.value) return;
    await this.#open();
    this.#io.stderr(
      'The endpoint was deleted, and is made anew: what ended meanwhile is not sent.',
    );
  }

  async #close(): Promise<void> {
    const id = this.#endpoint;
    await this.#try(
      (sidecar) => sidecar.deleteWebhookEndpoint({ id }).catch(goneWhereNotFound),
      z.unknown(),
    );
  }

  /** Makes a call; null where no sidecar answers now, since it may be starting again. */
  async #try<S extends z.ZodType>(
    call: (sidecar: WalletSidecar) => Promise<unknown>,
    schema: S,
  ): Promise<z.output<S> | null> {
    const answer = await this.#ask(
      (sidecar) => call(sidecar).catch(nullWhereAway),
      schema.nullable(),
    );
    const isAway = answer.value === null;
    if (isAway !== this.#isAway) {
      this.#io.stderr(
        isAway ? 'The sidecar is away; it is asked again.' : 'The sidecar is there again.',
      );
    }
    this.#isAway = isAway;
    return answer.value;
  }
}

function goneWhereNotFound(error: unknown): 'gone' {
  if (error instanceof WalletSidecarError && error.code === ERROR_CODES.notFound) return GONE.value;
  throw error;
}

function nullWhereAway(error: unknown): null {
  const isAway =
    error instanceof WalletSidecarError &&
    (error.kind === 'unreachable' ||
      error.kind === 'unanswered' ||
      AWAY.includes(error.httpStatus ?? 0));
  if (isAway) return null;
  throw error;
}

function lineOf({ at, type, http_status, error, duration_ms, id, index }: AttemptJson): string {
  const outcome = http_status === null ? (error ?? 'no answer') : String(http_status);
  return printable([moment(at), type, outcome, `${duration_ms} ms`, index, id].join('  '));
}
