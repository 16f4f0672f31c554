import { z } from 'zod';
import { isApiError } from '../../../model/errors.ts';
import type { LndRest } from './rest.ts';

/** The first release that can keep payments in tables of their own is 0.21. */
const NATIVE_SQL_SINCE = [0, 21] as const;

/** GET /v1/getdebuginfo, of which only one flag of the configuration is read */
const debugInfoShape = z.object({
  config: z.object({ 'db.use-native-sql': z.string().default('') }),
});

/** Whether LND keeps payments in native SQL; null where it may not be asked. Old releases answer with their log. */
export async function hasNativeSql(rest: LndRest, version: string): Promise<boolean | null> {
  if (!isSince(version)) return false;
  try {
    const { config } = await rest.get('/v1/getdebuginfo', debugInfoShape);
    return config['db.use-native-sql'] === 'true';
  } catch (error) {
    // Nothing depends on it, so it is no reason to refuse the node.
    if (isApiError(error)) return null;
    throw error;
  }
}

function isSince(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [sinceMajor, sinceMinor] = NATIVE_SQL_SINCE;
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
}
