import type {
  ClientInfo,
  CreateClientRequest,
  UpdateClientRequest,
} from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { useKeptAct } from '../../api/use-kept-act.ts';
import { AskAgain } from '../../parts/buttons.tsx';
import { AskedPart, Notice, Problem } from '../../parts/notices.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { text } from '../../texts/index.ts';
import {
  createRequest,
  EMPTY_FORM,
  formOf,
  satsOrNone,
  updateRequest,
} from '../../values/client-form.ts';
import { grantableScopes, reaches } from '../../values/grant.ts';
import { linkTo } from '../../values/place.ts';
import { clientName } from './card.tsx';
import { DeviceLink } from './devices.tsx';
import { ClientFields } from './form.tsx';

/** Makes a client, and shows its credentials once. */
export function NewClient() {
  const may = useMay();
  const { client: own, about } = useSignedIn();
  const make = useKeptAct('create-client', ({ api }, request: CreateClientRequest, key) =>
    api.createClient(request, { idempotencyKey: key }),
  );
  const grantable = grantableScopes(own);
  const scopes = EMPTY_FORM.scopes.filter((scope) => grantable.includes(scope));
  const done = () => {
    make.forget();
    if (may('list_clients')) location.hash = linkTo('clients');
  };
  return (
    <Replaced shown={make.value !== null ? 'secret' : make.isOpen ? 'open' : 'form'}>
      {make.value !== null ? (
        <>
          <SecretOnce
            {...(make.value.nwc_uri ? text.clients.paired : text.clients.made)}
            secret={make.value.nwc_uri ?? make.value.client_credentials}
            hasQr={make.value.nwc_uri !== undefined}
            onGone={make.forget}
            onDone={done}
          />
          {about.owner && (
            <section class="card narrow">
              <p>{text.clients.device.intro}</p>
              <DeviceLink clientPk={make.value.client_pk} />
            </section>
          )}
        </>
      ) : make.isOpen ? (
        <>
          <Notice kind="warn" {...text.clients.open} />
          <Problem error={make.error} />
          <AskAgain act={make} onGivenUp={done} />
        </>
      ) : (
        <>
          {may('list_clients') && (
            <p>
              <a href={linkTo('clients')}>{text.clients.back}</a>
            </p>
          )}
          <ClientFields
            title={text.clients.add}
            start={{ ...EMPTY_FORM, scopes, approveAbove: satsOrNone(own.approve_above) }}
            submit={text.clients.make}
            act={make}
            onSubmit={(form) => make.run(createRequest(form, own.expires_at))}
          />
        </>
      )}
    </Replaced>
  );
}

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
  return (
    <ClientFields
      title={text.clients.changeTitle(clientName(client))}
      start={formOf(client)}
      submit={text.clients.save}
      act={change}
      onSubmit={(form) => change.run(updateRequest(client, form, own.expires_at))}
    />
  );
}
