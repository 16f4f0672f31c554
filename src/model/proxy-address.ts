/** The SOCKS5 proxy through which nodes and relays are reached. It needs no user name. */
export interface ProxyAddress {
  readonly host: string;
  readonly port: number;
}
