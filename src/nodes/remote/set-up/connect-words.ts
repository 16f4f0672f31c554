/** How the command `connect` speaks of nodes of one kind. */
export interface ConnectWords {
  /** What people call a node of the kind. */
  readonly title: string;
  readonly tokenName: string;
  /** The flag that names the file of the token. */
  readonly tokenFlag: string;
  readonly tokenFile: string;
  readonly certFile: string;
  /** Where the person gives the certificate, at the beginning of a sentence. */
  readonly certPlace: string;
  /** What to say where the node needs a certificate and none was given. */
  readonly noCert: string;
  readonly urlExample: string;
  readonly port: string;
  /** How the operator makes the node speak TLS. */
  readonly enableTls: string;
  /** How the operator makes a certificate for other hosts. */
  readonly nameHosts: string;
  /** How a node of the other kind shows itself in the answer to the first call, and what to say then. */
  readonly other: { readonly answers: RegExp; readonly sentence: string };
}
