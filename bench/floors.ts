import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A bare server with a constant answer, which shows the cost of the runtime itself. */
const BARE = `
const body = JSON.stringify({ status: 'ok' });
const server = Bun.serve({ port: Number(process.argv[2]), hostname: '127.0.0.1', fetch: () => new Response(body, { headers: { 'content-type': 'application/json' } }) });
`;
/** A bare server that runs the query of list_payments. */
const QUERY = `
import { Database } from 'bun:sqlite';
const db = new Database(process.argv[3], { readonly: true });
const wallet = process.argv[4];
const query = db.prepare('SELECT idx, json FROM cache WHERE wallet = ? ORDER BY idx DESC LIMIT 101');
Bun.serve({ port: Number(process.argv[2]), hostname: '127.0.0.1', fetch: () => {
  const rows = query.all(wallet).slice(0, 100);
  return new Response('{"payments":[' + rows.map((row) => row.json).join(',') + '],"next_index":null}', { headers: { 'content-type': 'application/json' } });
} });
`;
/** A bare server whose streams all get the same bytes when somebody posts to it. */
const STREAMS = `
const open = new Set();
const text = new TextEncoder().encode('x'.repeat(Number(process.argv[3])));
Bun.serve({ port: Number(process.argv[2]), hostname: '127.0.0.1', idleTimeout: 0, fetch(request) {
  if (request.method === 'POST') {
    for (const stream of open) stream.enqueue(text);
    return new Response('told');
  }
  if (!request.url.endsWith('/v2/node/events')) return new Response('ready');
  let own;
  return new Response(new ReadableStream({ start(stream) { own = stream; open.add(own); own.enqueue(text); }, cancel() { open.delete(own); } }), { headers: { 'content-type': 'text/event-stream' } });
} });
`;
const HELLO = `Bun.serve({ port: Number(process.argv[2]), hostname: '127.0.0.1', fetch: () => new Response('hello') });`;

/** Paths of the compiled floors. */
export interface Floors {
  readonly bare: string;
  readonly query: string;
  readonly streams: string;
  readonly hello: string;
}

/** Compiles the floors that the sidecar is compared with, with the same compiler and options. */
export async function buildFloors(folder: string): Promise<Floors> {
  mkdirSync(folder, { recursive: true });
  const compile = async (name: string, source: string) => {
    const entry = join(folder, `${name}.ts`);
    writeFileSync(entry, source);
    const outfile = join(folder, name);
    const built = await Bun.build({
      entrypoints: [entry],
      minify: true,
      bytecode: true,
      format: 'esm',
      compile: { outfile },
    });
    if (!built.success) throw new AggregateError(built.logs, `${name} was not built`);
    return outfile;
  };
  return {
    bare: await compile('bare', BARE),
    query: await compile('query', QUERY),
    streams: await compile('streams', STREAMS),
    hello: await compile('hello', HELLO),
  };
}

/**
 * Starts a program, and resolves when it first answers, with the time that this took. The program runs until the
 * returned function is called.
 */
export async function running(
  command: readonly string[],
  port: number,
  path = '/',
): Promise<{ readyMs: number; pid: number; stop: () => Promise<void> }> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], {
    stdout: 'ignore',
    stderr: 'inherit',
    env: { ...process.env, SERVICE_SANDBOX_BLOCK_SECS: '0' },
  });
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    if (answer?.ok) break;
    if (child.exitCode !== null) throw new Error(`${command[0]} ended`);
    await Bun.sleep(1);
  }
  return {
    readyMs: performance.now() - startedAt,
    pid: child.pid,
    stop: async () => {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

/** Returns the resident memory of a process in megabytes. */
export function residentMb(pid: number): number {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.toString().trim()) / 1024;
}
