/** Answers a request in place of the truth, or after it. */
export type Lie = (path: string, truth: () => Promise<Response>) => Response | Promise<Response>;

/** An Esplora that says what another one says, until it is told to lie. */
export interface LyingEsplora {
  readonly url: string;
  /** What it answers; null: the truth. */
  lie: Lie | null;
  /** How often it was asked for the hash of the newest block, with which each look at the chain begins. */
  looks: number;
  stop(): void;
}

/** Starts it in front of an Esplora, on a free port of this machine. */
export function startLyingEsplora(url: string): LyingEsplora {
  const esplora: LyingEsplora = { url: '', lie: null, looks: 0, stop: () => undefined };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname;
      if (path === '/blocks/tip/hash') esplora.looks++;
      const body = request.method === 'POST' ? await request.text() : null;
      const truth = () => fetch(`${url}${path}`, { method: request.method, body });
      return esplora.lie === null ? truth() : esplora.lie(path, truth);
    },
  });
  return Object.assign(esplora, {
    url: `http://127.0.0.1:${server.port}`,
    stop: () => void server.stop(true),
  });
}
