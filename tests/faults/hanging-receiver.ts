/** A webhook receiver that does not answer until {@link behave} is called. */
export interface HangingReceiver {
  readonly url: string;
  /** The webhook-ids of requests without an answer, each once: an attempt is given up after a while and made again. */
  held(): readonly string[];
  /** The webhook-ids of accepted requests. */
  accepted(): readonly string[];
  /** Lets the receiver accept everything from now on. */
  behave(): void;
  stop(): Promise<void>;
}

/** Starts the receiver. */
export function hangingReceiver(): HangingReceiver {
  const held = new Set<string>();
  const accepted: string[] = [];
  let good = false;
  const never = Promise.withResolvers<Response>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const id = request.headers.get('webhook-id') ?? '';
      if (good) accepted.push(id);
      else held.add(id);
      return good ? new Response() : never.promise;
    },
  });
  return {
    url: server.url.href,
    held: () => [...held],
    accepted: () => accepted,
    behave() {
      good = true;
    },
    async stop() {
      never.resolve(new Response());
      await server.stop(true);
    },
  };
}
