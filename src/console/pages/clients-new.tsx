import type { CreateClientRequest } from '../../client/index.ts';
import { useMay, useSignedIn } from '../api/signed-in.tsx';
import { useKeptAct } from '../api/use-kept-act.ts';
import { Notice } from '../parts/notice.tsx';
import { Problem } from '../parts/problem.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { text } from '../texts/index.ts';
import { createRequest, EMPTY_FORM } from '../values/client-form.ts';
import { grantableScopes } from '../values/grant.ts';
import { linkTo } from '../values/place.ts';
import { ClientFields } from './clients-form.tsx';

/** Makes a client, and shows its credentials once. */
export function NewClient() {
  const may = useMay();
  const { client: own } = useSignedIn();
  const make = useKeptAct('create-client', ({ api }, request: CreateClientRequest, key) =>
    api.createClient(request, { idempotencyKey: key }),
  );
  const done = () => {
    make.forget();
    if (may('list_clients')) location.hash = linkTo('clients');
  };
  const back = may('list_clients') && (
    <p>
      <a href={linkTo('clients')}>{text.clients.back}</a>
    </p>
  );
  if (make.value !== null) {
    return (
      <SecretOnce
        title={text.clients.madeTitle}
        label={text.clients.credentials}
        secret={make.value.client_credentials}
        words={text.clients.madeWords}
        done={text.clients.stored}
        onGone={make.forget}
        onDone={done}
      />
    );
  }
  if (make.isOpen) {
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
          <button type="button" disabled={make.isBusy} onClick={done}>
            {text.clients.giveUp}
          </button>
        </div>
      </>
    );
  }
  const offered = grantableScopes(own);
  return (
    <>
      {back}
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
