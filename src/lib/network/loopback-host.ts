import { urlHost } from './url-host.ts';

/** Returns whether a host names this machine alone: localhost, below it, 127.0.0.0/8, ::1; also with a port. */
export function isLoopbackHost(text: string): boolean {
  if (!/^[\w.:[\]-]+$/.test(text)) return false;
  // The URL parser converts every spelling of an address, such as 127.1, to one form.
  const url = URL.parse(`http://${urlHost(text)}/`);
  const host = url?.hostname.replace(/\.$/, '') ?? '';
  return host === '[::1]' || /(^|\.)localhost$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host);
}
