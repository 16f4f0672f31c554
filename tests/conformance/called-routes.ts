import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '../../src/http/route.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { CONFORMANCE_NODE } from './node-test.ts';

const answered = new Set<Route>();
const closedIn = new Set<string>();

/** Returns the route that answers such a request; undefined when there is none. */
export function routeOf(method: string, path: string): Route | undefined {
  return [...ROUTES, ...SANDBOX_ROUTES].find(
    (route) => route.method.toUpperCase() === method && pattern(route.path).test(path),
  );
}

/**
 * Notes that a route answered a request successfully. An error is not counted, because it does not show what the route
 * does.
 */
export function routeAnswered(method: string, path: string): void {
  const route = routeOf(method, path);
  if (route) answered.add(route);
}

/**
 * Must be called when the world of a file is closed. After the last file it throws if some route was never answered
 * successfully by any conformance test. A run of only some files does not check this.
 */
export function worldClosed(): void {
  closedIn.add(Bun.main);
  if (filesWithWorlds().some((file) => !closedIn.has(file))) return;
  const never = [...ROUTES, ...SANDBOX_ROUTES].filter(
    (route) => !answered.has(route) && !isOfSandboxAlone(route),
  );
  if (never.length === 0) return;
  const names = never.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  throw new Error(
    `No conformance test has a good answer of ${names.join(', ')}: add one for each.`,
  );
}

/** Services on this machine, as tests have them, are reached on the sandbox alone. */
function isOfSandboxAlone({ path }: Route): boolean {
  return ['/v2/node/fetch', '/v2/node/rate'].includes(path) && CONFORMANCE_NODE !== 'sandbox';
}

function filesWithWorlds(): string[] {
  return readdirSync(import.meta.dir)
    .map((name) => join(import.meta.dir, name))
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => /\bawait open\w+World\(/.test(readFileSync(file, 'utf8')));
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);
}
