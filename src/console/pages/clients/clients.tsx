import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import type { Device } from '../../api/types.ts';
import { useAct } from '../../api/use-act.ts';
import { useAsked, useLive } from '../../api/use-asked.ts';
import { PressTwice } from '../../parts/buttons.tsx';
import { Cards } from '../../parts/facts.tsx';
import { AskedPart, HealthNotice, Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { linkTo } from '../../values/place.ts';
import { ClientCard } from './card.tsx';
import { ChangeClient, NewClient } from './edit.tsx';

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
  const asked = useLive(async ({ api, transport }, signal) => {
    const [{ clients }, { devices }] = await Promise.all([
      api.listClients({ signal }),
      about.owner
        ? transport.get<{ devices: readonly Device[] }>('/v2/console/devices', {})
        : { devices: [] },
    ]);
    return Object.values(clients)
      .toSorted((a, b) => (b.created_at ?? 0) - (a.created_at ?? 0))
      .map((client) => ({
        client,
        devices: devices.filter(({ client_pk }) => client_pk === client.client_pk),
      }));
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
      <AskedPart asked={asked} none={text.clients.none}>
        {(newestFirst) => (
          <Cards of={newestFirst} keyOf={({ client }) => client.client_pk}>
            {(one) => <ClientCard {...one} onChanged={asked.again} />}
          </Cards>
        )}
      </AskedPart>
    </>
  );
}

/** Lets the owner confirm the budgets after the database was restored. Shows nothing while all is well. */
function ConfirmBudgets() {
  const asked = useAsked((sidecar) => sidecar.about());
  const confirm = useAct(
    ({ api }) => api.confirmBudgets({ idempotencyKey: newKey() }).then(() => true),
    asked.again,
  );
  const isNeeded = asked.value?.budgets_confirmed === false;
  return (
    <div role="status">
      {isNeeded && confirm.value === null && (
        <>
          <Notice kind="warn" {...text.clients.budgets} />
          <PressTwice {...text.clients.confirmBudgets} act={confirm} />
        </>
      )}
      {confirm.value !== null && <Notice kind="good" title={text.clients.budgetsConfirmed} />}
      <Problem error={confirm.error} />
    </div>
  );
}
