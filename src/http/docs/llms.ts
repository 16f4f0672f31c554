import { ERRORS } from '../../model/errors.ts';
import { ATTEMPTS, SIGNED } from '../openapi/webhook.ts';
import { ADDITION, CALLING } from '../openapi/words.ts';
import type { Document, Parameter, Schema } from './document.ts';
import { curl, type Endpoint, endpointAnchor, endpointsOf } from './endpoint.ts';
import { withEnumsInPlace } from './enums.ts';
import { memberRows, parameterRows, typeOf } from './fields.ts';
import { ANY_REQUEST, bodyNameOf, withPlaceholders } from './guide.ts';
import { markdown } from './html.ts';

/** The calls that most programs need, in the order of a first program. */
const FIRST_CALLS: readonly string[] = [
  'get /v2/node/node_info',
  'post /v2/node/create_invoice',
  'get /v2/node/wait_for_payment',
  'post /v2/node/get_next_unused_address',
  'get /v2/node/analyze',
  'post /v2/node/pay',
  'get /v2/node/payment',
  'get /v2/node/updated_payments',
  'post /v2/node/create_client',
  'post /v2/webhooks/endpoints',
];

/** A longer line about a field is written once. */
const LONG_LINE = 70;

/** A longer word of an example is cut: an invoice or a key says nothing to a reader. */
const LONG_WORD = 60;

/** Texts about the API for language models (llmstxt.org), both in Markdown. */
export interface TextsForModels {
  /** What there is, with links. */
  readonly short: string;
  /** Everything that a program needs, in less than 60 KB, which a test holds. */
  readonly full: string;
}

/** Makes the texts for language models from the OpenAPI document. */
export function textsForModels(described: Document): TextsForModels {
  const document = withEnumsInPlace(described);
  const { info, servers } = document;
  const baseUrl = servers[0]?.url ?? '';
  const resources = resourcesOf(document);
  const title = `# Wallet Sidecar\n\n> ${info.summary} Version ${info.version}, base URL ${baseUrl}.`;
  return {
    short: sections([
      `${title}\n\n${link('Everything in one file', `${baseUrl}/llms-full.txt`)} is enough to write a program.`,
      ...shortSections(document, baseUrl),
    ]),
    full: sections([
      `${title}\n\nThis file is enough to write a program. Exact schemas are in ${baseUrl}/v2/openapi.json. In lists of fields, \`*\` marks what is required, \`?\` what may be null; hex without a length has 64 characters.`,
      '## Calling',
      ...CALLING.map(([heading, words]) => `### ${heading}\n\n${words}`),
      ...firstCalls(document, baseUrl),
      ...operations(document, resources),
      ...resourcesText(resources.filter(({ name }) => !bodiesOf(document).includes(name))),
      ...notices(document, resources),
      errors(),
    ]),
  };
}

function shortSections(document: Document, baseUrl: string): string[] {
  const page = `${baseUrl}/docs`;
  const groups = document.tags.map(({ name, description }) => {
    const links = endpointsOf(document, name).map(
      (endpoint) =>
        `- ${link(callOf(endpoint), `${page}#${endpointAnchor(endpoint)}`)}: ${endpoint.operation.summary}`,
    );
    return `## ${name}\n\n${description}\n\n${links.join('\n')}`;
  });
  const reading = [
    `- ${link('Reference', page)}: every operation with its fields, limits and errors, as a page`,
    `- ${link('OpenAPI 3.1', `${baseUrl}/v2/openapi.json`)}: the same for tools`,
    `- ${link('Calling', `${page}#calling`)}: ${CALLING.map(([heading]) => heading).join(', ')}`,
    `- ${link('Notices by webhook', `${page}#notices`)}: when they are sent, and how they are signed`,
    `- ${link('Errors', `${page}#errors`)}: every code and what it means`,
  ];
  return [`## Reading\n\n${reading.join('\n')}`, ...groups];
}

function firstCalls(document: Document, baseUrl: string): string[] {
  /** The examples of resources that were shown, as JSON, with the resource's name. */
  const shown = new Map<string, string>();
  const calls = FIRST_CALLS.flatMap((name) => {
    const endpoint = endpointsOf(document).find((one) => `${one.method} ${one.path}` === name);
    const content = Object.values(endpoint?.operation.responses['200']?.content ?? {})[0];
    if (!endpoint || !content) return [];
    const { summary, parameters = [] } = endpoint.operation;
    const takesKey = parameters.some((one) => one.name === 'Idempotency-Key');
    const call = curl(endpoint, baseUrl, takesKey ? ['idempotency-key: <uuid>'] : []);
    const example = JSON.stringify(content.example, (_, value: unknown) => {
      if (value === null) return undefined;
      return typeof value === 'string' && value.length > LONG_WORD
        ? `${value.slice(0, 20)}…`
        : value;
    });
    const answer = [...shown].reduce((text, [json, it]) => text.replaceAll(json, it), example);
    if (content.schema.$ref) shown.set(example, nameOf(content.schema));
    return `### ${summary}\n\n\`\`\`sh\n${withPlaceholders(call, endpoint.operation)}\n\`\`\`\n\nAnswer: \`${answer}\``;
  });
  return [
    '## First calls\n\nFor `<invoice>` put an invoice that somebody gave you, for `<index>` that of a payment, for `<uuid>` a new random UUID. With credentials add `-H "authorization: Bearer $CREDENTIALS"`. Answers leave out what is null.',
    ...calls,
  ];
}

function operations(document: Document, resources: readonly Resource[]): string[] {
  /** The endpoint where a field was described first, by its line. */
  const described = new Map<string, Endpoint>();
  const fields = (endpoint: Endpoint, rows: Rows) =>
    linesOf(rows).map((line) => {
      const before = described.get(line) ?? endpoint;
      described.set(line, before);
      return before === endpoint || line.length < LONG_LINE
        ? line
        : `${line.slice(0, line.indexOf(':'))}: as in ${before.path.split('/').at(-1)}`;
    });
  const groups = document.tags.filter(({ name }) =>
    endpointsOf(document, name).some(isForPrograms),
  );
  return groups.flatMap(({ name, description }) => [
    `## Operations: ${name}\n\n${description}`,
    ...endpointsOf(document, name)
      .filter(isForPrograms)
      .map((endpoint) => {
        const { summary, description: said, parameters = [], requestBody } = endpoint.operation;
        const body = requestBody?.content['application/json']?.schema;
        // The description says which fields may stand in either, and Calling says what headers do.
        const besides = (place: Parameter['in']) =>
          parameterRows(
            parameters.filter((one) => one.in === place && !body?.properties?.[one.name]),
          );
        return [
          // Calling says that each operation names the permission it needs.
          `### ${callOf(endpoint)}\n\n${summary}. ${withoutAddition(said).replace('Needs the permission `', 'Needs `')}`,
          titled('Path', fields(endpoint, besides('path'))),
          titled('Query', fields(endpoint, besides('query'))),
          titled('Body', fields(endpoint, body ? memberRows(body, 'request') : [])),
          answerText(endpoint, resources),
        ]
          .filter(Boolean)
          .join('\n');
      }),
  ]);
}

/** False where browsers call an endpoint, the wallets of payers by URLs that are made for them, or proxies. */
function isForPrograms({ path }: Endpoint): boolean {
  const isApi = ['/v2/', '/sandbox/', '/mcp', '/metrics'].some((start) => path.startsWith(start));
  const isForOthers = path.startsWith('/v2/console/') || path === '/v2/leader';
  return isApi && !isForOthers && !path.includes('{');
}

function answerText(
  { operation: { responses } }: Endpoint,
  resources: readonly Resource[],
): string {
  const [content] = Object.entries(responses['200']?.content ?? {});
  if (!content) return '';
  const [mediaType, { schema }] = content;
  const lines = schema.$ref ? [] : linesOf(memberRows(schema, 'answer'));
  const kind = mediaType === 'application/json' ? 'Answer' : `Answer (${mediaType})`;
  return titled(kind, besidesResource(lines, resources)) || `${kind}: ${nameOf(schema)}`;
}

function nameOf(schema: Schema): string {
  return schema.properties && Object.keys(schema.properties).length === 0
    ? '`{}`'
    : markdown(typeOf(schema, 'answer'));
}

interface Resource {
  readonly name: string;
  readonly description: string;
  readonly lines: readonly string[];
}

function resourcesOf({ components }: Document): Resource[] {
  return Object.entries(components.schemas).map(([name, { description = '', ...schema }]) => ({
    name,
    description: withoutAddition(description),
    lines: linesOf(memberRows(schema, name.endsWith('Input') ? 'request' : 'answer')),
  }));
}

function resourcesText(resources: readonly Resource[]): string[] {
  return [
    '## Resources\n\nWhat answers are made of. Every field is there, null where it does not apply.',
    ...resources.map(({ name, description, lines }) => {
      const others = resources.filter((other) => other.name !== name);
      return `### ${name}\n\n${description}\n${besidesResource(lines, others).join('\n')}`;
    }),
  ];
}

/** Returns lines of fields, those of a resource by its name where all of its fields are among them. */
function besidesResource(
  lines: readonly string[],
  resources: readonly Resource[],
): readonly string[] {
  const whole = resources.find((one) => one.lines.every((line) => lines.includes(line)));
  return whole
    ? [`- all fields of ${whole.name}`, ...lines.filter((line) => !whole.lines.includes(line))]
    : lines;
}

function bodiesOf({ webhooks }: Document): string[] {
  return Object.values(webhooks).map(({ post }) => bodyNameOf(post));
}

/** Returns the notices, each with its body. What all have is said once. */
function notices(document: Document, resources: readonly Resource[]): string[] {
  const requests = Object.values(document.webhooks);
  const headers = linesOf(parameterRows(requests[0]?.post.parameters ?? []));
  const lines = headers.map((line) => line.replace(` ${SIGNED}`, ''));
  const bodies = bodiesOf(document);
  const others = resources.filter(({ name }) => !bodies.includes(name));
  const fieldsOf = (body: string) =>
    besidesResource(resources.find(({ name }) => name === body)?.lines ?? [], others);
  const [first = [], ...rest] = bodies.map(fieldsOf);
  const shared = first.filter((line) => rest.every((fields) => fields.includes(line)));
  return [
    `## Notices by webhook\n\nAnswer 200. ${ATTEMPTS} ${titled('Where the endpoint has a secret, all have these headers', lines)}\n${titled('All bodies have', shared)}`,
    ...requests.map(({ post }) => {
      const body = bodyNameOf(post);
      const own = fieldsOf(body).filter((line) => !shared.includes(line));
      const said = withoutAddition(post.description).replace(` ${ATTEMPTS}`, '');
      return `### ${body}\n\n${said}\n${own.join('\n')}`;
    }),
  ];
}

function errors(): string {
  const rows = Object.entries(ERRORS).map(
    ([name, { code, httpStatus, meaning }]) =>
      `- ${code} (${name}, HTTP ${httpStatus}): ${meaning}`,
  );
  return `## Errors\n\n${ANY_REQUEST}\n\n${rows.join('\n')}`;
}

type Rows = readonly (readonly string[])[];

function linesOf(rows: Rows): string[] {
  return rows.map(([name = '', type = '', meaning = '']) =>
    brief(withoutAddition(markdown(`- ${name} ${type}: ${meaning}`))),
  );
}

/** Leaves out of a field's line what the text says once, for all fields, and has the short names of types. */
function brief(line: string): string {
  return line
    .replace(/^(- [^:]*)\bwhole number/, '$1integer')
    .replace(/^(- [^:]*)\btrue or false/, '$1boolean')
    .replace(/^(- [^:]*) or null:/, '$1?:')
    .replace(/^(- `[\w.]+_at` .*), in milliseconds/, '$1')
    .replace(/^(- [^:]* hex\b.*) 64 characters$/, '$1')
    .replace(/ at most (\d+) characters; at most \1 bytes/, ' at most $1 bytes');
}

function titled(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.join('\n')}`;
}

/** Other servers of the API are no concern of a program that reads this text. */
function withoutAddition(words: string): string {
  return words
    .split('\n\n')
    .filter((paragraph) => paragraph !== ADDITION)
    .join(' ')
    .replace(` ${ADDITION}`, '');
}

function callOf({ method, path }: Endpoint): string {
  return `${method.toUpperCase()} ${path}`;
}

function link(title: string, url: string): string {
  return `[${title}](${url})`;
}

/** Joins the parts of a text. A long list of words stands in it once. */
function sections(parts: readonly string[]): string {
  const seen = new Set<string>();
  const text = parts.join('\n\n').replace(/(?:`[\w.]+`, )+`[\w.]+` or `[\w.]+`/g, (words) => {
    if (words.length < LONG_LINE || !seen.has(words)) {
      seen.add(words);
      return words;
    }
    return `${words.split(',')[0]} to ${words.split(' ').at(-1)} (as above)`;
  });
  return `${text}\n`;
}
