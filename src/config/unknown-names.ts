import { changesBetween } from '../lib/changes-between.ts';
import { OPTIONS } from './options.ts';

const PREFIX = 'SERVICE_';
/** A name that differs from a setting's by at most this many characters is counted as a typing error. */
const CLOSE = 3;
/** At most this much of a name is shown, since an environment may hold any text. */
const SHOWN_CHARACTERS = 60;

/** Returns a warning with the unknown `SERVICE_` names, without values (docs/decisions.md 5), or null. */
export function unknownNames(names: readonly string[], source: string): string | null {
  const known: readonly string[] = Object.values(OPTIONS).map(({ env }) => env);
  const unknown = names.filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  if (unknown.length === 0) return null;
  const listed = unknown.map((name) => {
    const shown = name.slice(0, SHOWN_CHARACTERS).replace(/\W/g, '?');
    const meant = nearest(shown, known);
    return meant === null ? shown : `${shown} (did you mean ${meant}?)`;
  });
  return `Settings that do not exist have no effect: ${listed.join(', ')} (${source}).`;
}

function nearest(name: string, known: readonly string[]): string | null {
  const [best] = known
    .map((candidate) => ({ candidate, changes: changesBetween(name, candidate) }))
    .toSorted((a, b) => a.changes - b.changes);
  return best !== undefined && best.changes <= CLOSE ? best.candidate : null;
}
