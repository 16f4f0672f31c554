import type { ClientInfo, UpdateClientRequest } from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { Notice } from '../../parts/notice.tsx';
import { text } from '../../texts/index.ts';
import { formOf, updateRequest } from '../../values/client-form.ts';
import { grantableScopes, reaches, SCOPES } from '../../values/grant.ts';
import { linkTo } from '../../values/place.ts';
import { clientName } from './card.tsx';
import { ClientFields } from './form.tsx';

/** Changes what a client is called, may do, may spend, and until when. */
export function ChangeClient({ clientPk }: { readonly clientPk: string }) {
  const { client: own } = useSignedIn();
  const may = useMay();
  const asked = useAsked(({ api }, signal) => api.listClients({ signal }), [clientPk]);
  return (
    <>
      <p>
        <a href={linkTo('clients')}>{text.clients.back}</a>
      </p>
      <AskedPart asked={asked}>
        {({ clients }) => {
          const client = clients[clientPk];
          if (client === undefined || !may('update_client') || !reaches(own, client)) {
            return <Notice kind="warn" title={text.clients.notFound} />;
          }
          return <Change key={clientPk} client={client} />;
        }}
      </AskedPart>
    </>
  );
}

function Change({ client }: { readonly client: ClientInfo }) {
  const { client: own } = useSignedIn();
  const change = useAct(
    ({ api }, request: UpdateClientRequest) => api.updateClient(request),
    () => {
      location.hash = linkTo('clients');
    },
  );
  const grantable = grantableScopes(own);
  return (
    <ClientFields
      title={text.clients.changeTitle(clientName(client))}
      start={formOf(client)}
      // What it has may be taken from it, even where it could not be given.
      scopes={SCOPES.filter((one) => grantable.includes(one) || client.scopes.includes(one))}
      submit={text.clients.save}
      act={change}
      onSubmit={(form) => change.run(updateRequest(client, form, own.expires_at))}
    />
  );
}
