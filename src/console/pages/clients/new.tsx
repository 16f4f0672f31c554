import type { CreateClientRequest, CreateClientResponse } from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { type KeptAct, useKeptAct } from '../../api/use-kept-act.ts';
import { Notice } from '../../parts/notice.tsx';
import { Problem } from '../../parts/problem.tsx';
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
  const make = useKeptAct('create-client', ({ api }, request: CreateClientRequest, key) =>
    api.createClient(request, { idempotencyKey: key }),
  );
  const done = () => {
    make.forget();
    if (may('list_clients')) location.hash = linkTo('clients');
  };
  return (
    <Replaced shown={make.value !== null ? 'secret' : make.isOpen ? 'open' : 'form'}>
      {make.value !== null ? (
        <SecretOnce
          title={text.clients.madeTitle}
          label={text.clients.credentials}
          secret={make.value.client_credentials}
          words={text.clients.madeWords}
          done={text.clients.stored}
          onGone={make.forget}
          onDone={done}
        />
      ) : make.isOpen ? (
        <OpenMaking make={make} onGivenUp={done} />
      ) : (
        <NewClientForm make={make} />
      )}
    </Replaced>
  );
}

type Making = KeptAct<CreateClientRequest, CreateClientResponse>;

/** What is said while nobody knows whether the client was made. */
function OpenMaking({
  make,
  onGivenUp,
}: {
  readonly make: Making;
  readonly onGivenUp: () => void;
}) {
  return (
    <>
      <Notice kind="warn" title={text.clients.openTitle}>
        {text.clients.openWords}
      </Notice>
      <Problem error={make.error} />
      <div class="actions">
        <button type="button" class="main" disabled={make.isBusy} onClick={make.again}>
          {text.clients.askAgain}
        </button>
        <button type="button" disabled={make.isBusy} onClick={onGivenUp}>
          {text.clients.giveUp}
        </button>
      </div>
    </>
  );
}

function NewClientForm({ make }: { readonly make: Making }) {
  const may = useMay();
  const { client: own } = useSignedIn();
  const offered = grantableScopes(own);
  return (
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
        isBusy={make.isBusy}
        error={make.error}
        onSubmit={(form) => make.run(createRequest(form, own.expires_at))}
      />
    </>
  );
}
