import { SCOPES } from '../../model/clients/permissions.ts';
import { ERRORS } from '../../model/errors.ts';
import { CALLING } from '../openapi/words.ts';
import type { Document, Operation } from './document.ts';
import { curl } from './endpoint.ts';
import { parameterTable } from './fields.ts';
import { code, prose, table, text } from './html.ts';

/** Returns the page's section about what all endpoints have in common. */
export function callingSection(): string {
  const parts = CALLING.map(([title, words]) => `<h3>${text(title)}</h3><p>${prose(words)}</p>`);
  return `<section id="calling"><h2>Calling</h2>${parts.join('')}</section>`;
}

/** Returns the section with a first payment: create an invoice, have it paid, wait for the money. */
export function walkSection(document: Document, baseUrl: string): string {
  const call = (method: string, path: string, note: string) => {
    const operation = document.paths[path]?.[method];
    if (!operation) return '';
    const line = withPlaceholders(curl({ method, path, operation }, baseUrl), operation);
    return `<li><p>${prose(note)}</p><pre>${text(line)}</pre></li>`;
  };
  const give = 'Have it paid: give the `invoice` to a payer';
  const steps = [
    call(
      'post',
      '/v2/node/create_invoice',
      'Create an invoice. The answer has the `invoice` for the payer and the `index` of the payment.',
    ),
    document.paths['/sandbox/pay']
      ? call('post', '/sandbox/pay', `${give}. In the sandbox the outside world pays it.`)
      : call('post', '/v2/node/pay', `${give}, such as another wallet.`),
    call(
      'get',
      '/v2/node/wait_for_payment',
      'Wait for the money with the `index`. The answer comes when the payment is completed or failed.',
    ),
  ];
  return `<section id="first-payment"><h2>A first payment</h2><ol class="walk">${steps.join('')}</ol></section>`;
}

/** Returns a call with placeholders for an invoice and the index of a payment, which callers get elsewhere. */
export function withPlaceholders(
  line: string,
  { parameters = [], requestBody }: Operation,
): string {
  const index = parameters.find(({ name }) => name === 'index')?.example;
  const sent = requestBody?.content['application/json']?.example;
  const payable =
    (sent as { payable?: string } | undefined)?.payable ??
    parameters.find(({ name }) => name === 'payment_string')?.example;
  return [
    [index, '<index>'],
    [payable, '<invoice>'],
  ].reduce(
    (done, [value, name]) => (value ? done.replace(String(value), String(name)) : done),
    line,
  );
}

/** Returns the table of scopes and of the permissions that each one grants. */
export function scopesSection(): string {
  const rows = Object.entries(SCOPES).map(([scope, permissions]) => [
    code(scope),
    scope === 'full' ? 'everything' : permissions.map(code).join(' '),
  ]);
  return `<section id="scopes"><h2>Scopes</h2>${table(['scope', 'permissions'], rows)}</section>`;
}

/** The statuses that any request can get. Code stands between backticks. */
export const ANY_REQUEST =
  'Every request can be answered with 403 (112: its Host or Origin), 405 (`Allow` names the methods of the path), 413 (the body is larger than 256 KiB, or 16 KiB where no credentials are needed), 408 (such a body did not arrive within 5 seconds), 414 and 431 (the request line, or it and the headers, are longer than 64 KiB), 415 (the body is not JSON) and 500. Error 8 comes with `Retry-After`.';

/** Returns the table of errors, and the statuses that any request can get. */
export function errorsSection(): string {
  const rows = Object.values(ERRORS).map(({ code: number, httpStatus, meaning }) => [
    String(number),
    String(httpStatus),
    prose(meaning),
  ]);
  return `<section id="errors"><h2>Errors</h2><p>${prose(ANY_REQUEST)}</p>${table(['code', 'HTTP', 'means'], rows)}</section>`;
}

/** Returns the section about the webhook: when it is sent, and how it is signed. */
export function webhookSection({ webhooks }: Document): string {
  const hooks = Object.entries(webhooks).map(([name, { post }]) => {
    const body = bodyNameOf(post);
    return `<p>${prose(post.description)}</p><p>The body is a
<a href="#schema-${body}">${body}</a> with <code>type</code> <code>${text(name)}</code>. Answer 200.</p>
${parameterTable(post.parameters ?? [])}`;
  });
  return `<section id="notices"><h2>Notices by webhook</h2>${hooks.join('')}</section>`;
}

/** Returns the name of the resource that a request's body is. */
export function bodyNameOf({ requestBody }: Operation): string {
  return requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1) ?? '';
}
