declare const WALLET_SIDECAR_VERSION: string | undefined;
declare const WALLET_SIDECAR_COMMIT: string | undefined;

/** Version of this program, set by the build; running from source says so. */
export const VERSION =
  typeof WALLET_SIDECAR_VERSION === 'string' ? WALLET_SIDECAR_VERSION : '0.0.0-source';

/** The commit that the build was made from; `unknown` outside a clone, with `-modified` where files differ from it. */
export const COMMIT = typeof WALLET_SIDECAR_COMMIT === 'string' ? WALLET_SIDECAR_COMMIT : 'unknown';

/** What `--version` prints. */
export const VERSION_LINE = `${VERSION} (commit ${COMMIT})`;
