import { z } from 'zod';
import { ERRORS } from '../model/errors.ts';
import { SCOPES } from '../model/permissions.ts';
import { accessSentence, GROUP_DESCRIPTIONS } from './openapi/words.ts';
import type { Route, RouteGroup } from './route.ts';

interface PageOptions {
  readonly baseUrl: string;
  readonly version: string;
}

/** The page must work without the outside world and run nothing: no script, no image, no font is loaded. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** The reference as one page of HTML, made from the route entries: the groups in the order of the routes. */
export function docsPage(routes: readonly Route[], options: PageOptions): Response {
  const groups = [...Map.groupBy(routes, (route) => route.group)];
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Wallet Sidecar ${text(options.version)}</title><style>${STYLE}</style></head><body>
<nav><h1>Wallet Sidecar</h1><p>${text(options.version)}</p>${groups.map(navGroup).join('')}
<h2><a href="#scopes">Scopes</a></h2><h2><a href="#errors">Errors</a></h2><h2><a href="#notices">Notices</a></h2></nav>
<main><p>Base address <code>${text(options.baseUrl)}</code>. Amounts are satoshis as strings with up to three decimals,
times are milliseconds since the UNIX epoch. A star marks what is required. The machine-readable form is
<a href="/v2/openapi.json">/v2/openapi.json</a>.</p>
${groups.map((group) => groupSection(group, options)).join('')}${scopes()}${errors()}${NOTICES}</main></body></html>`;
  return new Response(html, { headers: HEADERS });
}

type Group = readonly [RouteGroup, readonly Route[]];

function navGroup([group, routes]: Group): string {
  const links = routes.map(
    (route) =>
      `<li><a href="#${anchor(route)}">${text(route.path.replace('/v2/node/', ''))}</a> ${methodTag(route)}</li>`,
  );
  return `<h2><a href="#${group}">${text(group)}</a></h2><ul>${links.join('')}</ul>`;
}

function groupSection([group, routes]: Group, options: PageOptions): string {
  return `<section id="${group}"><h2>${text(group)}</h2><p>${prose(GROUP_DESCRIPTIONS[group])}</p>
${routes.map((route) => endpoint(route, options)).join('')}</section>`;
}

function endpoint(route: Route, options: PageOptions): string {
  const { path, summary, description, addition, example } = route;
  const access = accessSentence(route.access);
  // Some descriptions say themselves who may call.
  const sentences = [`${summary}.`, description, description?.includes(access) ? null : access];
  return `<article id="${anchor(route)}"><h3>${methodTag(route)} <code>${text(path)}</code>${addition ? ' <i>addition</i>' : ''}</h3>
<p>${prose(sentences.filter(Boolean).join(' '))}</p>
${route.query ? fields('Query', route.query) : ''}${route.body ? fields('Body', route.body) : ''}
<h4>Example</h4><pre>${text(curl(route, options.baseUrl))}</pre><pre>${text(exampleAnswer(example.response))}</pre></article>`;
}

function methodTag({ method }: Route): string {
  return `<b class="${method}">${method.toUpperCase()}</b>`;
}

function exampleAnswer(response: unknown): string {
  return typeof response === 'string' ? response : JSON.stringify(response, null, 2);
}

function fields(title: string, schema: z.ZodType): string {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const properties = Object.entries(json.properties ?? {});
  if (properties.length === 0) return '';
  const required = new Set(json.required ?? []);
  const rows = properties.map(([name, property]) => {
    const described = typeof property === 'object' ? property : {};
    return `<tr><td><code>${text(name)}</code>${required.has(name) ? ' *' : ''}</td><td>${text(typeName(described))}</td><td>${prose(described.description ?? '')}</td></tr>`;
  });
  return `<h4>${title}</h4><table class="fields">${rows.join('')}</table>`;
}

function typeName(schema: z.core.JSONSchema.BaseSchema): string {
  if (schema.enum) return schema.enum.join(' | ');
  const names = schema.anyOf
    ? schema.anyOf.map((one) => (typeof one === 'object' ? typeName(one) : ''))
    : [schema.type ?? 'object'].flat();
  // Almost everything optional may be null: saying it each time hides the rest.
  return [...new Set<string>(names)].filter((name) => name !== 'null').join(' or ');
}

function curl(route: Route, baseUrl: string): string {
  const query = route.example.query ? `?${new URLSearchParams(route.example.query)}` : '';
  const url = `${baseUrl}${route.path}${query}`;
  const quoted = query === '' ? url : `'${url}'`;
  if (!route.body)
    return `curl ${route.method === 'get' ? '' : `-X ${route.method.toUpperCase()} `}${quoted}`;
  return `curl -X ${route.method.toUpperCase()} ${quoted} -H 'content-type: application/json' -d '${JSON.stringify(route.example.body ?? {})}'`;
}

function scopes(): string {
  const rows = Object.entries(SCOPES).map(
    ([scope, permissions]) =>
      `<tr><td><code>${text(scope)}</code></td><td>${permissions.map((name) => `<code>${text(name)}</code>`).join(' ')}</td></tr>`,
  );
  return `<section id="scopes"><h2>Scopes</h2><table>${rows.join('')}</table></section>`;
}

function errors(): string {
  const rows = Object.values(ERRORS).map(
    ({ code, httpStatus, meaning }) =>
      `<tr><td>${code}</td><td>${httpStatus}</td><td>${text(meaning)}</td></tr>`,
  );
  return `<section id="errors"><h2>Errors</h2><p>Every error has the body <code>{code, msg, data, sensitive}</code>.</p><table><tr><th>code</th><th>HTTP</th><th>meaning</th></tr>${rows.join('')}</table></section>`;
}

function anchor(route: Route): string {
  return `${route.method}${route.path.replace(/[^a-z0-9]+/gi, '-')}`;
}

/** Text in which code stands between backticks. */
function prose(value: string): string {
  return text(value).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const NOTICES = `<section id="notices"><h2>Notices by webhook</h2><p>With <code>--webhook-url</code> every payment made or issued
through the sidecar is announced once it is completed or failed: a POST of the Payment with <code>type</code>,
<code>timestamp</code> and <code>user_pk</code>. Answer 200. There are three attempts, at 0, about 2 and about 8 seconds; the
<code>webhook-id</code> stays the same, so handling can be idempotent. With <code>--webhook-secret</code> each attempt is signed
as Standard Webhooks says: <code>webhook-id</code>, <code>webhook-timestamp</code>, <code>webhook-signature</code>.</p></section>`;

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#d8dee4,#30363d);--soft:light-dark(#f6f8fa,#161b22);--link:light-dark(#0550ae,#79c0ff)}
*{box-sizing:border-box}body{margin:0;font:15px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:18rem minmax(0,1fr);background:light-dark(#fff,#0d1117);color:light-dark(#1f2328,#e6edf3)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.2rem;border-right:1px solid var(--line);background:var(--soft)}nav h1{font-size:1.1rem;margin:0}nav p{margin:0 0 1rem;opacity:.7}nav h2{font-size:.8rem;letter-spacing:.05em;margin:1rem 0 .2rem}nav ul{list-style:none;margin:0;padding:0}nav li{overflow-wrap:anywhere}nav b{font-size:.65rem}
h2{text-transform:uppercase;font-size:1.1rem;letter-spacing:.03em;margin:.4rem 0}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}main{padding:1.2rem 2rem;max-width:62rem}
section{border-top:3px solid var(--line);padding:1rem 0;scroll-margin-top:.5rem}article{border-top:1px solid var(--line);padding:1rem 0;scroll-margin-top:.5rem}h3{margin:.2rem 0;font-size:1.05rem;overflow-wrap:anywhere}h4{margin:.6rem 0 .2rem}article p{margin:.5rem 0}
code,pre{font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.7rem;margin:.4rem 0;overflow:auto;max-height:22rem;white-space:pre-wrap}h3 code{font-size:.95rem}
table{border-collapse:collapse;width:100%}td,th{border:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}.fields td:first-child{width:14rem}.fields td:nth-child(2){width:11rem}
b.get{color:light-dark(#1a7f37,#3fb950)}b.post{color:light-dark(#0550ae,#79c0ff)}b.put{color:light-dark(#9a6700,#d29922)}i{font-size:.75rem;border:1px solid var(--line);border-radius:9px;padding:0 .5rem;font-style:normal;font-weight:400}
@media(max-width:50rem){body{grid-template-columns:minmax(0,1fr)}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line);padding:1rem}nav p{margin:0}nav ul{display:none}nav h2{display:inline-block;margin:.2rem .8rem .2rem 0;line-height:2.2}main{padding:1rem}
.fields tr,.fields td{display:block}.fields tr{border:1px solid var(--line);padding:.3rem .5rem;margin-top:-1px}.fields td,.fields td:first-child,.fields td:nth-child(2){border:0;padding:0;width:auto}.fields td:nth-child(2){opacity:.7}.fields td:first-child{font-weight:600}}`;
