import { useEffect, useState } from 'preact/hooks';
import { WalletSidecarError } from '../../../client/index.ts';
import { walletOfLink } from '../../api/sidecar.ts';
import { useSignedIn } from '../../api/signed-in.tsx';
import type { Device } from '../../api/types.ts';
import { useAct } from '../../api/use-act.ts';
import { Button, PressTwice } from '../../parts/buttons.tsx';
import { QrCopy } from '../../parts/copy.tsx';
import { Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { momentText } from '../../values/moment.ts';

const LOOK_MS = 3000;

/**
 * Shows a link by which a phone or another browser signs in as the client, until it was used or is too old, which
 * `onOver` is told. Only the owner makes one.
 */
export function DeviceLink(props: { readonly clientPk: string; readonly onOver?: () => void }) {
  const { clientPk, onOver } = props;
  const { about } = useSignedIn();
  const [isOver, setOver] = useState(false);
  const make = useAct(({ transport }) =>
    transport.post<{ token: string }>('/v2/console/device_link', { client_pk: clientPk }),
  );
  const token = make.value?.token;
  useEffect(() => {
    if (token === undefined) return;
    const over = (error: Error) => {
      if (!(error instanceof WalletSidecarError && error.httpStatus === 401)) return;
      make.forget();
      setOver(true);
      onOver?.();
    };
    // To look at a link leaves it as it is, and keeps no session from ending.
    const look = () => document.hidden || walletOfLink(token).catch(over);
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [token]);
  if (!about.owner) return null;
  const { over, words, help, label } = text.clients.device;
  return (
    <div role="status">
      {isOver && token === undefined && <p class="dim">{over}</p>}
      {token === undefined ? (
        <Button words={words} isBusy={make.isBusy} onPress={make.run} />
      ) : (
        <>
          <p>{help}</p>
          <QrCopy value={linkOf(token)} qr={String} label={label} />
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
