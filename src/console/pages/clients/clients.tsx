import type { ClientInfo } from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { BudgetBar } from '../../parts/budget-bar.tsx';
import { HealthNotice } from '../../parts/health-notice.tsx';
import { PressTwice } from '../../parts/press-twice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { renewedMs } from '../../values/expiry.ts';
import { canSpend, reaches } from '../../values/grant.ts';
import { momentText } from '../../values/moment.ts';
import { linkTo } from '../../values/place.ts';
import { ConfirmBudgets } from './budgets.tsx';
import { ChangeClient } from './change.tsx';
import { clientName } from './client-name.ts';
import { NewClient } from './new.tsx';

/** What follows the page's name for the form of a new client. */
const NEW = 'new';

/** The clients of the wallet: all of them, a new one, or one to change. */
export function Clients({ rest }: { readonly rest: string }) {
  const may = useMay();
  if (rest === NEW || !may('list_clients')) return <NewClient />;
  return rest === '' ? <ClientList /> : <ChangeClient clientPk={rest} />;
}

function ClientList() {
  const may = useMay();
  const { about } = useSignedIn();
  const asked = useAsked(({ api }, signal) => api.listClients({ signal }), [], { live: true });
  return (
    <>
      <p class="dim">{text.clients.intro}</p>
      <HealthNotice />
      {about.owner && <ConfirmBudgets />}
      {may('create_client') && (
        <p>
          <a class="button main" href={linkTo('clients', NEW)}>
            {text.clients.add}
          </a>
        </p>
      )}
      <AskedPart asked={asked}>
        {({ clients }) => {
          const newestFirst = Object.values(clients).toSorted(
            (a, b) => (b.created_at ?? 0) - (a.created_at ?? 0),
          );
          if (newestFirst.length === 0) return <p class="dim">{text.clients.none}</p>;
          return (
            <ul class="cards">
              {newestFirst.map((client) => (
                <li key={client.client_pk} class="card">
                  <ClientCard client={client} onChanged={asked.again} />
                </li>
              ))}
            </ul>
          );
        }}
      </AskedPart>
    </>
  );
}

interface ClientCardProps {
  readonly client: ClientInfo;
  readonly onChanged: () => void;
}

function ClientCard({ client, onChanged }: ClientCardProps) {
  const { client: own } = useSignedIn();
  const may = useMay();
  const name = clientName(client);
  const isReached = reaches(own, client);
  const isOwn = client.client_pk !== null && client.client_pk === own.client_pk;
  return (
    <>
      <h2 class="head">
        {name}
        {isOwn && <span class="badge">{text.clients.own}</span>}
      </h2>
      <ul class="chips">
        {client.scopes.map((scope) => (
          <li key={scope}>{text.clients.scopes[scope][0]}</li>
        ))}
        {client.permissions.map((permission) => (
          <li key={permission} class="mono">
            {permission}
          </li>
        ))}
      </ul>
      {client.budget !== null && <BudgetBar budget={client.budget} />}
      {client.budget === null && canSpend([], client.effective_permissions) && (
        <p class="warn-text">{text.clients.noBudget}</p>
      )}
      <p class="dim">{datesOf(client)}</p>
      {isReached && (
        <div class="actions">
          {may('update_client') && (
            <a
              class="button"
              href={linkTo('clients', client.client_pk ?? '')}
              aria-label={text.clients.changeOf(name)}
            >
              {text.clients.change}
            </a>
          )}
          {may('update_client') && <Renew client={client} name={name} onRenewed={onChanged} />}
          {may('revoke_client') && (
            <Revoke client={client} name={name} isOwn={isOwn} onChanged={onChanged} />
          )}
        </div>
      )}
    </>
  );
}

interface RenewProps {
  readonly client: ClientInfo;
  readonly name: string;
  readonly onRenewed: () => void;
}

function Renew({ client, name, onRenewed }: RenewProps) {
  const { client: own } = useSignedIn();
  const renew = useAct(
    ({ api }, expires_at: number) =>
      api.updateClient({ client_pk: client.client_pk ?? '', expires_at }),
    onRenewed,
  );
  const laterMs = renewedMs(client.expires_at, own.expires_at);
  if (laterMs === null) return null;
  return (
    <>
      <button
        type="button"
        disabled={renew.isBusy}
        onClick={() => renew.run(laterMs)}
        aria-label={text.clients.renewOf(name, momentText(laterMs))}
      >
        {text.clients.renew(momentText(laterMs))}
      </button>
      <Problem error={renew.error} />
    </>
  );
}

function Revoke({
  client,
  name,
  isOwn,
  onChanged,
}: ClientCardProps & { readonly name: string; readonly isOwn: boolean }) {
  // Revoking twice does nothing more, so the key need not outlive the page.
  const revoke = useAct(({ api }, client_pk: string) => api.revokeClient({ client_pk }), onChanged);
  return (
    <>
      <PressTwice
        words={text.clients.revokeOf(name)}
        question={isOwn ? text.clients.revokeOwnQuestion : text.clients.revokeQuestion(name)}
        confirm={text.clients.revokeConfirm}
        isBusy={revoke.isBusy}
        onConfirmed={() => revoke.run(client.client_pk ?? '')}
      />
      <Problem error={revoke.error} />
    </>
  );
}

function datesOf({ created_at, expires_at }: ClientInfo): string {
  const created = created_at === null ? [] : [text.clients.created(momentText(created_at))];
  const expires =
    expires_at === null ? text.clients.never : text.clients.expires(momentText(expires_at));
  return [...created, expires].join(' · ');
}
