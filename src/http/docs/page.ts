import { createHash } from 'node:crypto';
import type { Document, Schema } from './document.ts';
import {
  type Endpoint,
  endpointAnchor,
  endpointSection,
  endpointsOf,
  methodLabel,
} from './endpoint.ts';
import { withEnumsInPlace } from './enums.ts';
import { memberTable, schemaAnchor } from './fields.ts';
import { FILTER } from './filter.ts';
import {
  callingSection,
  errorsSection,
  scopesSection,
  walkSection,
  webhookSection,
} from './guide.ts';
import { prose, text } from './html.ts';
import { STYLE } from './style.ts';

const hashOf = (inline: string) =>
  `'sha256-${createHash('sha256').update(inline).digest('base64')}'`;

/**
 * The page asks nobody for anything: its policy allows the one style and the one script that stand in it, by their
 * hashes, and no requests, images or fonts.
 */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src ${hashOf(FILTER)}; style-src ${hashOf(STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

interface Place {
  readonly id: string;
  readonly title: string;
}

/** The sections before the endpoints (`BEFORE`) and after them (`AFTER`). */
const BEFORE: readonly Place[] = [
  { id: 'calling', title: 'Calling' },
  { id: 'first-payment', title: 'A first payment' },
];
const AFTER: readonly Place[] = [
  { id: 'notices', title: 'Notices by webhook' },
  { id: 'scopes', title: 'Scopes' },
  { id: 'errors', title: 'Errors' },
];

/** Makes the documentation, one page of HTML, from the OpenAPI document. Returns a function that answers with it. */
export function docsPage(described: Document): () => Response {
  const document = withEnumsInPlace(described);
  const [{ url: baseUrl } = { url: '' }] = document.servers;
  const { version } = document.info;
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    endpoints: endpointsOf(document, name),
  }));
  const schemas = Object.entries(document.components.schemas);
  const sections = groups.map(
    (
      group,
    ) => `<section id="${group.name}"><h2>${text(group.name)}</h2><p>${prose(group.description)}</p>
${group.endpoints.map((endpoint) => endpointSection(endpoint, baseUrl)).join('')}</section>`,
  );
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Wallet Sidecar ${text(version)}</title><style>${STYLE}</style></head><body>
<nav aria-label="Contents"><a class="skip" href="#reference">Skip the contents</a><p class="name">Wallet Sidecar <small>${text(version)}</small></p>
<p class="filter" hidden><input type="search" aria-label="Filter operations and fields" aria-keyshortcuts="/" placeholder="Filter, or press /" autocomplete="off" spellcheck="false"><small role="status"></small></p>
${BEFORE.map(navPlace).join('')}${groups.map(navGroup).join('')}${navSchemas(schemas)}${AFTER.map(navPlace).join('')}</nav>
<main id="reference"><h1>Wallet Sidecar</h1>
<p>A local HTTP API to a self-custodial Bitcoin and Lightning wallet. Base address ${`<code>${text(baseUrl)}</code>`}.
A star marks what is required. For programs the same is in <a href="/v2/openapi.json">/v2/openapi.json</a>, for language models
in <a href="/llms.txt">/llms.txt</a> and <a href="/llms-full.txt">/llms-full.txt</a>.</p>
${callingSection()}${walkSection(document, baseUrl)}${sections.join('')}${resources(schemas)}
${webhookSection(document)}${scopesSection()}${errorsSection()}</main><script>${FILTER}</script></body></html>`;
  return () => new Response(html, { headers: HEADERS });
}

function navPlace({ id, title }: Place): string {
  return `<p class="group"><a href="#${id}">${text(title)}</a></p>`;
}

/** Returns a folded list of links. Each has room for the fields by which the filter has found it. */
function navList({ id, title }: Place, links: readonly string[]): string {
  const items = links.map((link) => `<li>${link} <small></small></li>`);
  return `<details><summary class="group">${text(title)}</summary>${navPlace({ id, title: `About ${title}` })}<ul>${items.join('')}</ul></details>`;
}

function navGroup(group: {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
}): string {
  const links = group.endpoints.map(
    (endpoint) =>
      `<a href="#${endpointAnchor(endpoint)}">${text(endpoint.path.replace('/v2/node/', ''))} ${methodLabel(endpoint.method)}</a>`,
  );
  return navList({ id: group.name, title: group.name }, links);
}

type NamedSchema = readonly [name: string, schema: Schema];

function navSchemas(schemas: readonly NamedSchema[]): string {
  const links = schemas.map(([name]) => `<a href="#${schemaAnchor(name)}">${text(name)}</a>`);
  return navList({ id: 'resources', title: 'resources' }, links);
}

function resources(schemas: readonly NamedSchema[]): string {
  const articles = schemas.map(([name, schema]) => {
    const use = name.endsWith('Input') ? 'request' : 'answer';
    return `<article id="${schemaAnchor(name)}"><h3>${text(name)}</h3><p>${prose(schema.description ?? '')}</p>${memberTable(schema, use)}</article>`;
  });
  return `<section id="resources"><h2>Resources</h2><p>What answers are made of. Every field is there, null where it does not apply.</p>
${articles.join('')}</section>`;
}
