import type { Dice } from './dice.ts';
import type { Schema } from './json-schema.ts';
import { mutateBytes } from './text.ts';
import { fittingMembers, nastyJson, type ValueSources } from './values.ts';

/** A body over the limit of 256 KiB, and one just below it. */
const SIZES = [256 * 1024 + 1, 300 * 1024, 256 * 1024 - 100];

/** Returns a request body for a schema: as documented, with some wrong fields, or wrong as a whole. */
export function bodyBytes(sources: ValueSources, schema: Schema): Uint8Array {
  const { dice } = sources;
  const members = fittingMembers(sources, schema).map(
    ([name, value]): Member => [name, JSON.stringify(value) ?? 'null'],
  );
  const kind = dice.below(100);
  if (kind < 55) return encode(objectText(members));
  if (kind < 85) return encode(objectText(breakMembers(sources, schema, members)));
  if (kind < 92) return encode(nastyJson(sources, ''));
  return breakText(dice, objectText(members));
}

const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'x', '', '\ud800', 'a'.repeat(1000)];

type Member = readonly [name: string, json: string];

function objectText(members: readonly Member[]): string {
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Changes one to three fields of a body: they become wrong, missing, doubled or unknown. */
function breakMembers(sources: ValueSources, schema: Schema, members: readonly Member[]): Member[] {
  const { dice } = sources;
  const names = [...Object.keys((schema.properties ?? {}) as object), ...ODD_NAMES];
  const broken = [...members];
  const nasty = (name: string): Member => [name, nastyJson(sources, name.toLowerCase())];
  for (let changes = 1 + dice.below(3); changes > 0; changes--) {
    const at = dice.below(broken.length);
    const [name = 'x'] = broken[at] ?? [];
    const kind = dice.below(6);
    if (kind === 0 && broken.length > 0) broken.splice(at, 1);
    else if (kind === 1) broken.push(nasty(name));
    else if (kind === 2) broken[at] = nasty(name.toUpperCase());
    else if (kind === 3) broken.push(nasty(dice.pick(names)));
    else broken[at] = nasty(name);
  }
  return broken;
}

function breakText(dice: Dice, text: string): Uint8Array {
  switch (dice.below(11)) {
    case 0:
      return encode(text.slice(0, dice.below(text.length)));
    case 1:
      return mutateBytes(dice, encode(text));
    case 2:
      return encode(`\ufeff${text}`);
    case 3:
      return encode(`${text}${dice.pick([text, ',', '//', '\0', '}', 'null'])}`);
    case 4:
      return new Uint8Array(Buffer.from(text, 'utf16le'));
    case 5:
      return Buffer.concat([
        encode(text.slice(0, -1)),
        encode(',"a":"'),
        dice.bytes(5),
        encode('"}'),
      ]);
    case 6:
      return encode(`${' '.repeat(dice.pick(SIZES))}${text}`);
    case 7:
      return encode(
        `${text.slice(0, -1)}${text.length > 2 ? ',' : ''}"pad":"${'x'.repeat(dice.pick(SIZES))}"}`,
      );
    case 8:
      return encode(text.replaceAll('"', "'"));
    case 9:
      return encode(`[${text}]`);
    default:
      return new Uint8Array();
  }
}
