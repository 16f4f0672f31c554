import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useLive } from '../../api/use-asked.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { HealthNotice } from '../../parts/health-notice.tsx';
import { Cards } from '../../parts/items.tsx';
import { text } from '../../texts/index.ts';
import { linkTo } from '../../values/place.ts';
import { ConfirmBudgets } from './budgets.tsx';
import { ClientCard } from './card.tsx';
import { ChangeClient } from './change.tsx';
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
  const asked = useLive(async ({ api }, signal) => {
    const { clients } = await api.listClients({ signal });
    return Object.values(clients).toSorted((a, b) => (b.created_at ?? 0) - (a.created_at ?? 0));
  });
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
        {(newestFirst) =>
          newestFirst.length === 0 ? (
            <p class="dim">{text.clients.none}</p>
          ) : (
            <Cards of={newestFirst} keyOf={({ client_pk }) => client_pk}>
              {(client) => <ClientCard client={client} onChanged={asked.again} />}
            </Cards>
          )
        }
      </AskedPart>
    </>
  );
}
