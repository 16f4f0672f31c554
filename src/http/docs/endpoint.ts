import { ERRORS } from '../../model/errors.ts';
import { ADDITION } from '../openapi/words.ts';
import type { Document, Operation, Parameter } from './document.ts';
import { memberTable, parameterTable, typeOf } from './fields.ts';
import { code, prose, table, text } from './html.ts';

/** An endpoint together with its method and path. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Returns the endpoints of a document; with a tag, those that have it. */
export function endpointsOf(document: Document, tag?: string): Endpoint[] {
  return Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    )
    .filter(({ operation }) => tag === undefined || operation.tags.includes(tag));
}

const PLACES: readonly (readonly [Parameter['in'], string])[] = [
  ['path', 'In the path'],
  ['header', 'Headers'],
  ['query', 'Query'],
];

/** Returns the id of the page's section about an endpoint. */
export function endpointAnchor({ method, path }: Endpoint): string {
  const name = path.replace(/[^a-z0-9]+/gi, '-').replace(/-$/, '');
  return `${method}${name || '-root'}`;
}

/** Returns the HTML of a method's name; the page gives each method its own colour. */
export function methodLabel(method: string): string {
  return `<b class="${method}">${method.toUpperCase()}</b>`;
}

/** Returns the page's section about one endpoint. It is collapsed on narrow screens. */
export function endpointSection(endpoint: Endpoint, baseUrl: string): string {
  const { method, path, operation } = endpoint;
  const addition = operation['x-addition'] ? ' <i>addition</i>' : '';
  const paragraphs = operation.description
    .split('\n\n')
    .filter((paragraph) => paragraph !== ADDITION)
    .map((paragraph) => `<p>${prose(paragraph)}</p>`);
  return `<article><details class="endpoint"><summary><h3>${text(operation.summary)}${addition}</h3>
<span class="call">${methodLabel(method)} ${code(path)}</span></summary><div id="${endpointAnchor(endpoint)}" class="about">
${paragraphs.join('')}${parameters(operation)}${body(operation)}${answer(operation)}${errors(operation)}${example(endpoint, baseUrl)}
</div></details></article>`;
}

function parameters({ parameters: all = [] }: Operation): string {
  return PLACES.map(([place, title]) => {
    const here = all.filter((parameter) => parameter.in === place);
    return here.length === 0 ? '' : `<h4>${title}</h4>${parameterTable(here)}`;
  }).join('');
}

function body({ requestBody }: Operation): string {
  const schema = requestBody?.content['application/json']?.schema;
  const members = schema ? memberTable(schema, 'request') : '';
  return members === '' ? '' : `<h4>Body</h4>${members}`;
}

function answer({ responses }: Operation): string {
  const content = Object.entries(responses['200']?.content ?? {})[0];
  if (!content) return '';
  const [mediaType, { schema }] = content;
  const members = schema.$ref ? '' : memberTable(schema, 'answer');
  const kind = mediaType === 'application/json' ? '' : ` <small>${text(mediaType)}</small>`;
  if (members !== '') return `<h4>Answer${kind}</h4>${members}`;
  const isEmpty = schema.properties && Object.keys(schema.properties).length === 0;
  const shown = isEmpty ? code('{}') : typeOf(schema, 'answer');
  return `<h4>Answer${kind}</h4><p>${shown}${schema.description ? `. ${prose(schema.description)}` : ''}</p>`;
}

function errors({ responses }: Operation): string {
  const rows = Object.entries(responses)
    .filter(([status, { $ref }]) => status !== '200' && !$ref)
    .map(([status, { description = '', 'x-error-codes': codes = [] }]) => [
      status,
      codes.length === 0 ? prose(description) : codes.map(errorMeaning).join('<br>'),
    ]);
  return `<h4>Other statuses</h4>${table(['HTTP', 'means'], rows)}<p>And those of <a href="#errors">every request</a>.</p>`;
}

function errorMeaning(number: number): string {
  const row = Object.values(ERRORS).find((one) => one.code === number);
  return `<b>${number}</b> ${prose(row?.meaning ?? '')}`;
}

function example(endpoint: Endpoint, baseUrl: string): string {
  const content = Object.values(endpoint.operation.responses['200']?.content ?? {})[0];
  const shown = content?.example;
  const json = typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2);
  const result =
    shown === undefined
      ? ''
      : `<details><summary>Example answer</summary><pre>${text(json)}</pre></details>`;
  return `<h4>Example</h4><pre>${text(curl(endpoint, baseUrl))}</pre>${result}`;
}

/** Returns the curl command that sends the endpoint's example request, with these headers. */
export function curl(
  { method, path, operation }: Endpoint,
  baseUrl: string,
  headers: readonly string[] = [],
): string {
  const given = (operation.parameters ?? []).filter(({ example }) => example !== undefined);
  const at = (place: string) => given.filter((one) => one.in === place);
  const query = new URLSearchParams(
    at('query').map(({ name, example }): [string, string] => [name, String(example)]),
  );
  const filled = at('path').reduce(
    (url, { name, example }) => url.replace(`{${name}}`, String(example)),
    path,
  );
  const url = `${baseUrl}${filled}${query.size > 0 ? `?${query}` : ''}`;
  const verb = method === 'get' ? '' : `-X ${method.toUpperCase()} `;
  const sent = operation.requestBody?.content['application/json']?.example;
  const lines = [
    ...headers.map((header) => `-H '${header}'`),
    ...(sent === undefined
      ? []
      : [`-H 'content-type: application/json'`, `-d '${JSON.stringify(sent)}'`]),
  ];
  return [`curl ${verb}${query.size > 0 ? `'${url}'` : url}`, ...lines].join(' \\\n  ');
}
