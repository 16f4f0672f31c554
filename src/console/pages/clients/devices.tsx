import { useSignedIn } from '../../api/signed-in.tsx';
import type { Device } from '../../api/types.ts';
import { useAct } from '../../api/use-act.ts';
import { Button, PressTwice } from '../../parts/buttons.tsx';
import { QrCopy } from '../../parts/copy.tsx';
import { Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { momentText } from '../../values/moment.ts';

/** Shows a link, once, by which a phone or another browser signs in as the client. Only the owner makes one. */
export function DeviceLink({ clientPk }: { readonly clientPk: string }) {
  const { about } = useSignedIn();
  const make = useAct(({ transport }) =>
    transport.post<{ token: string }>('/v2/console/device_link', { client_pk: clientPk }),
  );
  if (!about.owner) return null;
  const { words, help, label } = text.clients.device;
  return (
    <div role="status">
      {make.value === null ? (
        <Button words={words} isBusy={make.isBusy} onPress={make.run} />
      ) : (
        <>
          <p>{help}</p>
          <QrCopy value={linkOf(make.value.token)} qr={String} label={label} />
        </>
      )}
      <Problem error={make.error} />
    </div>
  );
}

const linkOf = (token: string) => `${location.origin}/console#link=${token}`;

/** A device that is signed in as a client, and the way to sign it out. */
export function DeviceLine({
  device: { id, created_at, used_at },
  onChanged,
}: {
  readonly device: Device;
  readonly onChanged: () => void;
}) {
  const end = useAct(
    ({ transport }) => transport.post('/v2/console/end_device', { id }),
    onChanged,
  );
  const since = momentText(created_at);
  return (
    <div class="actions">
      <span class="dim">{text.clients.device.since(since, momentText(used_at))}</span>
      <PressTwice {...text.clients.device.end(since)} act={end} />
      <Problem error={end.error} />
    </div>
  );
}
