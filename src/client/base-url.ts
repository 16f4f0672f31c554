/**
 * Returns the base URL of a sidecar, without slashes at the end. Throws a `TypeError` for what is not an http or https
 * URL of a server, and where credentials would leave this machine without https (docs/decisions.md 103).
 */
export function baseUrlOf(text: string, sendsCredentials: boolean): string {
  const url = parsed(text);
  if (url === null) {
    throw new TypeError(
      'The url of the sidecar must be an http or https URL without user, query and fragment, such as http://127.0.0.1:5393.',
    );
  }
  if (sendsCredentials && url.protocol !== 'https:' && !isLoopback(url)) {
    throw new TypeError(
      `Credentials are sent only to this machine or over https, and the url is ${url.origin}: give an https URL.`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

function parsed(text: string): URL | null {
  try {
    const url = new URL(text);
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
    const isBare = !/[?#]/.test(text) && url.username === '' && url.password === '';
    return isWeb && isBare ? url : null;
  } catch {
    return null;
  }
}

/** Whether a URL leads to this machine. The URL parser has converted every spelling of an address to one form. */
function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/\.$/, '');
  return host === '[::1]' || /(^|\.)localhost$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host);
}
