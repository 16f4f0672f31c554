import { useEffect } from 'preact/hooks';
import { useAct } from '../../api/use-act.ts';
import { Arrivals } from '../../parts/arrivals.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Qr } from '../../parts/qr.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { addressQrText } from '../../values/qr-path.ts';

/** An on-chain address: the same until a payment to it is seen. */
export function ReceiveByAddress() {
  const get = useAct(({ api }, _: null) =>
    api.getNextUnusedAddress({}, { idempotencyKey: newKey() }),
  );
  useEffect(() => get.run(null), []);
  return (
    <section class="card show">
      <h2>{text.receive.ways.address}</h2>
      <Problem error={get.error} />
      {get.value === null ? (
        get.error === null && <p class="dim">{text.loading}</p>
      ) : (
        <>
          <Qr
            content={addressQrText(get.value.address)}
            label={text.receive.qr(text.receive.ways.address)}
          />
          <Copy value={get.value.address} label={text.receive.ways.address} />
          <p class="dim">{text.receive.addressHelp}</p>
          <Arrivals />
        </>
      )}
      <button type="button" disabled={get.isBusy} onClick={() => get.run(null)}>
        {text.receive.nextAddress}
      </button>
    </section>
  );
}
