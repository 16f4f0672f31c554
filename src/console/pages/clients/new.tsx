import type { CreateClientRequest } from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useKeptAct } from '../../api/use-kept-act.ts';
import { AskAgain } from '../../parts/ask-again.tsx';
import { Notice, Problem } from '../../parts/notice.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { text } from '../../texts/index.ts';
import { createRequest, EMPTY_FORM } from '../../values/client-form.ts';
import { grantableScopes } from '../../values/grant.ts';
import { linkTo } from '../../values/place.ts';
import { ClientFields } from './form.tsx';

/** Makes a client, and shows its credentials once. */
export function NewClient() {
  const may = useMay();
  const { client: own } = useSignedIn();
  const make = useKeptAct('create-client', ({ api }, request: CreateClientRequest, key) =>
    api.createClient(request, { idempotencyKey: key }),
  );
  const offered = grantableScopes(own);
  const done = () => {
    make.forget();
    if (may('list_clients')) location.hash = linkTo('clients');
  };
  return (
    <Replaced shown={make.value !== null ? 'secret' : make.isOpen ? 'open' : 'form'}>
      {make.value !== null ? (
        <SecretOnce
          {...text.clients.made}
          secret={make.value.client_credentials}
          onGone={make.forget}
          onDone={done}
        />
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
            start={{
              ...EMPTY_FORM,
              scopes: EMPTY_FORM.scopes.filter((scope) => offered.includes(scope)),
            }}
            scopes={offered}
            submit={text.clients.make}
            act={make}
            onSubmit={(form) => make.run(createRequest(form, own.expires_at))}
          />
        </>
      )}
    </Replaced>
  );
}
