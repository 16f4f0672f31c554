import { z } from 'zod';
import { type ClientInfoJson, clientInfoJson } from '../../../model/client.ts';

/** An example of a client's public key. */
export const EXAMPLE_PK = '1f1f...';

/** The answer that shows one client. */
export const oneClientJson = z.object({ client: clientInfoJson });

/** What a client was granted, for people. */
export function grantWords({ scopes, permissions }: ClientInfoJson): string {
  return [...scopes, ...permissions].join(', ');
}
