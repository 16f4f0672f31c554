import { isLoopbackHost } from '../lib/network/loopback-host.ts';
import type { Config } from './config.ts';
import { OPTIONS } from './options.ts';
import { ConfigError } from './sources.ts';

type DefaultWallet = Pick<Config, 'rootSeed' | 'clientCredentials'>;

/** Returns whether there is a wallet for requests without an Authorization header. */
export function hasDefaultWallet({ rootSeed, clientCredentials }: DefaultWallet): boolean {
  return rootSeed !== null || clientCredentials !== null;
}

/** Returns whether requests without an Authorization header reach the default wallet. */
export function isOpenToAll(config: DefaultWallet & Pick<Config, 'requireAuth'>): boolean {
  return hasDefaultWallet(config) && !config.requireAuth;
}

/** Whether payers elsewhere get URLs of names that they cannot use: no https (LUD-01), or loopback. */
export function hasUnreachableNames({
  addressDomain,
  sidecarUrl,
}: Pick<Config, 'addressDomain' | 'sidecarUrl'>): boolean {
  if (addressDomain === null || isLoopbackHost(addressDomain)) return false;
  return sidecarUrl === null || !sidecarUrl.startsWith('https://');
}

/**
 * Throws {@link ConfigError} for a configuration under which requests from other machines could use the default wallet
 * without an Authorization header (docs/decisions.md 72). The message names the setting and what to do. `onRealNode`
 * says that the default wallet is not on the sandbox.
 */
export function requireSafeExposure(config: Config, { onRealNode }: { onRealNode: boolean }): void {
  if (!isOpenToAll(config)) return;
  const named: readonly (readonly [string, string])[] = [
    [OPTIONS.listenAddr.flag, config.listen.host],
    ...(config.sidecarUrl === null
      ? []
      : [[OPTIONS.sidecarUrl.flag, new URL(config.sidecarUrl).hostname] as const]),
    ...(config.database?.peerUrl
      ? [[OPTIONS.peerUrl.flag, new URL(config.database.peerUrl).hostname] as const]
      : []),
    ...config.allowHosts.map((host) => [OPTIONS.allowHost.flag, host] as const),
    ...(onRealNode && config.addressDomain !== null
      ? [[OPTIONS.addressDomain.flag, config.addressDomain] as const]
      : []),
  ];
  const open = named.find(([, host]) => !isLoopbackHost(host));
  if (open === undefined) return;
  const [flag, host] = open;
  throw new ConfigError(
    `--${flag} names ${host}, and every request from there could spend from the default wallet without an Authorization header: add --require-auth, or name a loopback address.`,
  );
}
