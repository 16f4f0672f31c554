/** Returns whether a text names a node as `<key>@<host>:<port>`, the form that the sidecar takes. */
export function isPeer(typed: string): boolean {
  return /^0[23][0-9a-fA-F]{64}@[^@\s]{1,253}:\d{1,5}$/.test(typed);
}
