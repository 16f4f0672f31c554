/** The scheme for a host that a payment string names: http for onion and loopback hosts, https for all others. */
export function schemeFor(host: string): 'http' | 'https' {
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
  return name.endsWith('.onion') || isLoopback(name) ? 'http' : 'https';
}

/** Whether a host name, without port, is this very machine. Whether it may be asked is decided where it is asked. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/**
 * A domain name or address with an optional port, in ASCII: labels of letters, digits and hyphens, 253 characters
 * at most (RFC 1123), or an IPv6 address in brackets. Names that only the DNS must know may hold underscores too.
 */
export function isHost(text: string, { underscores = false } = {}): boolean {
  const letters = underscores ? text.replaceAll('_', 'x') : text;
  const match = /^(\[[0-9a-f:]+\]|[a-z0-9.-]{1,253})(?::\d{1,5})?$/i.exec(letters);
  if (!match?.[1]) return false;
  if (match[1].startsWith('[')) return true;
  return match[1].split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}

/** What is wrong with a text after `@` that {@link isHost} turns down, as a clause without a full stop. */
export function hostProblem(text: string): string {
  return /^[\x21-\x7e]*$/.test(text)
    ? 'the part after @ is not a domain'
    : 'the domain has letters beyond a-z, which look like others too easily: give its form that begins with xn--';
}
