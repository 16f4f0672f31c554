import { z } from 'zod';
import { isLoopbackHost } from '../../lib/network/loopback-host.ts';
import { once } from '../../lib/once.ts';

/** The most origins of a client, and the most characters of one (docs/api.md, Limits). */
const MOST_ORIGINS = 20;
const ORIGIN_MAX_CHARACTERS = 255;
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/;
/** What a text that is no origin is told. */
export const ORIGIN_RULE =
  'must be an origin as browsers write it, without a path, such as https://api.example';

/** The web origins that a client may fetch from, in a request (docs/decisions.md 189). */
export const originsInput = once(() =>
  z
    .array(
      z
        .string()
        .max(ORIGIN_MAX_CHARACTERS)
        .regex(ORIGIN, ORIGIN_RULE)
        .refine(isWebOrigin, ORIGIN_RULE),
    )
    .min(1)
    .max(MOST_ORIGINS)
    .meta({
      description: 'The web origins that `fetch` may ask; without it any.',
      examples: [['https://api.example']],
      addition: true,
    }),
);

/**
 * Whether a text is an origin in its canonical form, by https or, of this machine, by http. A URL with a path is none:
 * who wrote it may expect that the path counts.
 */
export function isWebOrigin(text: string): boolean {
  const url = ORIGIN.test(text) ? URL.parse(text) : null;
  return url?.origin === text && (url.protocol === 'https:' || isLoopbackHost(url.host));
}
