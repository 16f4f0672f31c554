/** What one expression of PromQL reads. */
export interface Reads {
  /** The names of metrics, as they stand in the expression. */
  readonly metrics: readonly string[];
  /** The matchers of each metric: the label, how it is compared, and with what. */
  readonly matchers: readonly {
    readonly metric: string;
    readonly label: string;
    readonly compared: string;
    readonly value: string;
  }[];
  /** The labels by which series are grouped or joined. */
  readonly grouped: readonly string[];
}

const SELECTOR = /([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^{}]*)\}/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)/g;
/** A range or a shift, such as `[5m]` and `offset 1d`. */
const TIME = /\[[^\]]*\]|\boffset\s+-?\w+/g;
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'inf', 'nan']);

/**
 * Returns what an expression reads. It knows the parts of PromQL that boards and alerts use, and takes every other word
 * for the name of a metric. Throws when brackets do not fit.
 */
export function readsOf(expression: string): Reads {
  requireBrackets(expression);
  const matchers = [...expression.matchAll(SELECTOR)].flatMap(([, metric = '', inside = '']) =>
    [...inside.matchAll(MATCHER)].map(([, label = '', compared = '', value = '']) => ({
      metric,
      label,
      compared,
      value,
    })),
  );
  const grouped = [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
  const bare = expression.replace(SELECTOR, ' $1 ').replace(GROUPING, ' ').replace(TIME, ' ');
  const names = [...bare.matchAll(/(?<![\w.])[a-zA-Z_:][\w:]*(?!\w)(?!\s*\()/g)].map(([it]) => it);
  return {
    metrics: [...new Set(names.filter((name) => !WORDS.has(name.toLowerCase())))],
    matchers,
    grouped,
  };
}

function requireBrackets(expression: string): void {
  const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
  const open: string[] = [];
  for (const one of expression.replace(/"[^"]*"/g, '')) {
    if (one in closing) open.push(closing[one] ?? '');
    else if (')]}'.includes(one) && open.pop() !== one) throw new Error(`no ${one}: ${expression}`);
  }
  if (open.length > 0) throw new Error(`${open.join('')} is missing: ${expression}`);
}
