declare const WALLET_SIDECAR_VERSION: string | undefined;

/** Version of this program, set by the build; running from source says so. */
export const VERSION =
  typeof WALLET_SIDECAR_VERSION === 'string' ? WALLET_SIDECAR_VERSION : '0.0.0-source';
