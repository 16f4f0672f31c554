import type { ClientInfo, Permission } from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import type { Device } from '../../api/types.ts';
import { useAct } from '../../api/use-act.ts';
import { BudgetBar } from '../../parts/bars.tsx';
import { Button, PressTwice } from '../../parts/buttons.tsx';
import { Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { renewedMs } from '../../values/expiry.ts';
import { canSpend, reaches } from '../../values/grant.ts';
import { momentText } from '../../values/moment.ts';
import { linkTo } from '../../values/place.ts';
import { satsOf } from '../../values/sats.ts';
import { DeviceLine, DeviceLink } from './devices.tsx';

interface ClientCardProps {
  readonly client: ClientInfo;
  readonly devices: readonly Device[];
  readonly onChanged: () => void;
}

/** One client, with what can be done with it. */
export function ClientCard(props: ClientCardProps) {
  const { client, devices, onChanged } = props;
  const { client: own } = useSignedIn();
  const may = useMay();
  const name = clientName(client);
  return (
    <>
      <h2 class="head">
        {name}
        {isOwn(client, own) && <span class="badge">{text.clients.own}</span>}
      </h2>
      <ul class="chips">
        {client.scopes.map((scope) => (
          <li key={scope}>{text.clients.scopes[scope][0]}</li>
        ))}
        {client.permissions.map((permission) => (
          <li key={permission}>{permissionWords(permission)[0]}</li>
        ))}
      </ul>
      {client.budget !== null && <BudgetBar budget={client.budget} />}
      {client.budget === null && canSpend([], client.effective_permissions) && (
        <p class="warn-text">{text.clients.noBudget}</p>
      )}
      {client.own && <p>{text.clients.ownOnly[0]}</p>}
      {client.approve_above !== null && (
        <p>{text.clients.waitsAbove(satsOf(client.approve_above))}</p>
      )}
      <p class="dim">{datesOf(client)}</p>
      {devices.map((device) => (
        <DeviceLine key={device.id} device={device} onChanged={onChanged} />
      ))}
      <DeviceLink clientPk={client.client_pk ?? ''} onOver={onChanged} />
      {reaches(own, client) && (
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
          {may('update_client') && <Renew {...props} />}
          {may('revoke_client') && <Revoke {...props} />}
        </div>
      )}
    </>
  );
}

/** Returns what people call a client: its label, or the beginning of its public key. */
export function clientName({ label, client_pk }: ClientInfo): string {
  return label ?? text.clients.unnamed(client_pk ?? '');
}

/** Returns what a single permission is called, and what it means; one without words of its own has its name. */
export function permissionWords(permission: Permission): readonly [string, string?] {
  const words: Partial<Record<Permission, readonly [string, string]>> = text.clients.permissions;
  return words[permission] ?? [permission];
}

type Named = Pick<ClientInfo, 'client_pk'>;

function isOwn({ client_pk }: Named, own: Named): boolean {
  return client_pk !== null && client_pk === own.client_pk;
}

function Renew({ client, onChanged }: ClientCardProps) {
  const { client: own } = useSignedIn();
  const renew = useAct(
    ({ api }, expires_at: number) =>
      api.updateClient({ client_pk: client.client_pk ?? '', expires_at }),
    onChanged,
  );
  const laterMs = renewedMs(client.expires_at, own.expires_at);
  if (laterMs === null) return null;
  const moment = momentText(laterMs);
  return (
    <>
      <Button
        words={text.clients.renew(moment)}
        label={text.clients.renewOf(clientName(client), moment)}
        isBusy={renew.isBusy}
        onPress={() => renew.run(laterMs)}
      />
      <Problem error={renew.error} />
    </>
  );
}

function Revoke({ client, onChanged }: ClientCardProps) {
  const { client: own } = useSignedIn();
  const { client_pk } = client;
  // Revoking twice does nothing more, so the key need not outlive the page.
  const revoke = useAct(({ api }) => api.revokeClient({ client_pk: client_pk ?? '' }), onChanged);
  return (
    <>
      <PressTwice
        isGrave
        {...text.clients.revoke(clientName(client), isOwn(client, own))}
        act={revoke}
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
