import { z } from 'zod';
import { type ClientInfoJson, clientInfoJson } from '../../../model/client.ts';

/** A client's public key for the examples of commands. */
export const EXAMPLE_PK = '1f1f...';

/** The schema of an answer with one client. */
export const oneClientJson = z.object({ client: clientInfoJson });

/** Returns a client's scopes and permissions in words. */
export function grantWords({ scopes, permissions }: ClientInfoJson): string {
  return [...scopes, ...permissions].join(', ');
}
