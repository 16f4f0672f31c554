import type { ComponentType } from 'preact';
import { steersSandbox } from '../api/sandbox.ts';
import { type May, mayOf, type SignedIn } from '../api/signed-in.tsx';
import { text } from '../texts/index.ts';
import { Clients } from './clients/clients.tsx';
import { Node } from './node/node.tsx';
import { Overview } from './overview.tsx';
import { Payments } from './payments/payments.tsx';
import { Receive } from './receive/receive.tsx';
import { SandboxPage } from './sandbox.tsx';
import { Send } from './send/send.tsx';
import { Webhooks } from './webhooks/webhooks.tsx';

interface Page {
  /** Its name in the URL. */
  readonly name: string;
  readonly title: string;
  /** Draws the page; `rest` is what follows its name in the URL. */
  readonly Page: ComponentType<{ readonly rest: string }>;
  readonly offered: (to: Offer) => boolean;
}

interface Offer extends Pick<SignedIn, 'about' | 'client'> {
  readonly may: May;
}

/** Every page, in the order of the links. A new page is one line here. */
const PAGES: readonly Page[] = [
  { name: 'overview', title: text.overview.title, Page: Overview, offered: () => true },
  {
    name: 'receive',
    title: text.receive.title,
    Page: Receive,
    offered: ({ may }) =>
      may('create_invoice', 'create_offer', 'get_next_unused_address', 'get_human_bitcoin_address'),
  },
  {
    name: 'send',
    title: text.send.title,
    Page: Send,
    // What a string says is read with node_info.
    offered: ({ may }) => may('node_info') && may('pay_invoice', 'pay_offer', 'pay_onchain'),
  },
  {
    name: 'payments',
    title: text.payments.title,
    Page: Payments,
    offered: ({ may }) => may('get_updated_payments', 'get_payment_by_id'),
  },
  {
    name: 'clients',
    title: text.clients.title,
    Page: Clients,
    offered: ({ about, may }) =>
      about.abilities.includes('clients') && may('list_clients', 'create_client'),
  },
  {
    name: 'webhooks',
    title: text.webhooks.title,
    Page: Webhooks,
    offered: ({ about, may }) => about.owner || may('get_updated_payments'),
  },
  {
    name: 'node',
    title: text.node.title,
    Page: Node,
    offered: ({ may }) => may('node_info', 'list_channels', 'open_channel'),
  },
  { name: 'sandbox', title: text.sandbox.title, Page: SandboxPage, offered: steersSandbox },
];

/** Returns the pages that somebody who signed in is offered: none that the credentials cannot use. */
export function pagesFor({ about, client }: Pick<SignedIn, 'about' | 'client'>): readonly Page[] {
  const offer = { about, client, may: mayOf(client) };
  return PAGES.filter(({ offered }) => offered(offer));
}
