import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { YAML } from 'bun';

const text = (name: string) =>
  readFileSync(join(import.meta.dir, '../../docs/fleet', name), 'utf8');

interface Service {
  readonly extra_hosts?: readonly string[];
  readonly networks: { readonly inside?: { readonly ipv4_address?: string } };
}

test('the proxy starts, and finds each sidecar, also while one of them has no container', () => {
  const compose = YAML.parse(text('compose.yaml')) as { services: Record<string, Service> };
  const { proxy, ...others } = compose.services;
  for (const file of ['nginx.conf', 'haproxy.cfg']) {
    const called = new Set(text(file).match(/\bsidecar-\w+(?=:5393)/g));
    expect(called).toEqual(new Set(['sidecar-a', 'sidecar-b']));
    for (const name of called) {
      const address = others[name]?.networks.inside?.ipv4_address;
      expect(address).toMatch(/^172\.28\.7\.\d+$/);
      expect(proxy?.extra_hosts).toContain(`${name}:${address}`);
    }
  }
});
