/** Returns the scheme for a host in a payment string: http for onion and loopback hosts, https for all others. */
export function schemeFor(host: string): 'http' | 'https' {
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
  return name.endsWith('.onion') || isLoopback(name) ? 'http' : 'https';
}

/** Whether a host name, without port, means this machine. Whether it is allowed is checked later. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/**
 * Returns whether a text is a host with an optional port, in ASCII: labels of letters, digits and hyphens, at most 253
 * characters (RFC 1123), or an IPv6 address in brackets. With `underscores` labels may hold underscores too, for names
 * that are only looked up in the DNS.
 */
export function isHost(text: string, { underscores = false } = {}): boolean {
  const letters = underscores ? text.replaceAll('_', 'x') : text;
  const match = /^(\[[0-9a-f:]+\]|[a-z0-9.-]{1,253})(?::\d{1,5})?$/i.exec(letters);
  if (!match?.[1]) return false;
  if (match[1].startsWith('[')) return true;
  return match[1].split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}

/** Returns why a text after `@` is not a host, as a clause without a full stop. */
export function hostProblem(text: string): string {
  const isForeign = /\P{ASCII}/u.test(text) && !/[\s\p{C}]/u.test(text);
  return isForeign
    ? 'the domain has letters other than a-z, which are easily confused with others: give its form that begins with xn--'
    : 'the part after @ is not a domain';
}
