/** A browser that is signed in to the console as a client (docs/decisions.md 196). */
export interface DeviceRecord {
  /** Hex user_pk. */
  readonly walletId: string;
  /** Hex SHA-256 of the half that the browser has in its cookie. */
  readonly id: string;
  /** Hex SHA-256 of the half that the page keeps. */
  readonly keyHash: string;
  readonly clientPk: string;
  /** The origin of the page that signed in. */
  readonly origin: string;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}

/** The browsers that stay signed in as clients, over restarts. */
export interface DeviceStore {
  add(record: DeviceRecord): Promise<void>;
  find(walletId: string, id: string): Promise<DeviceRecord | null>;
  list(walletId: string): Promise<DeviceRecord[]>;
  /** Notes the time of a use of one that is still there. */
  used(walletId: string, id: string, atMs: number): Promise<void>;
  remove(walletId: string, id: string): Promise<void>;
}
