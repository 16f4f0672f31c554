import { useEffect } from 'preact/hooks';
import { useAct } from '../../api/use-act.ts';
import { Arrivals } from '../../parts/arrivals.tsx';
import { Button } from '../../parts/button.tsx';
import { Problem } from '../../parts/notice.tsx';
import { QrCopy } from '../../parts/qr.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { addressQrText } from '../../values/qr-path.ts';

/** An on-chain address: the same until a payment to it is seen. */
export function ReceiveByAddress() {
  const get = useAct(({ api }) => api.getNextUnusedAddress({}, { idempotencyKey: newKey() }));
  useEffect(() => get.run(), []);
  return (
    <section class="card show">
      <h2>{text.receive.ways.address}</h2>
      <Problem error={get.error} />
      {get.value === null ? (
        get.error === null && <p class="dim">{text.loading}</p>
      ) : (
        <>
          <QrCopy value={get.value.address} qr={addressQrText} label={text.receive.ways.address} />
          <p class="dim">{text.receive.addressHelp}</p>
          <Arrivals />
        </>
      )}
      <Button words={text.receive.nextAddress} isBusy={get.isBusy} onPress={get.run} />
    </section>
  );
}
