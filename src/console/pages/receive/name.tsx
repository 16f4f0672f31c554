import {
  ERROR_CODES,
  type HumanBitcoinAddress,
  WalletSidecarError,
} from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { type Asked, useAsked } from '../../api/use-asked.ts';
import { Copy, QrCopy } from '../../parts/copy.tsx';
import { Field, useTyped } from '../../parts/fields.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notices.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';
import { Arrivals } from './arrivals.tsx';

/** The wallet's name, by which people pay it as they write a mail; and claiming it. */
export function ReceiveByName() {
  const asked = useAsked(({ api }, signal) => api.humanBitcoinAddress({ signal }));
  return (
    <Replaced shown={asked.value?.lightning_address ?? ''}>
      <NameOrClaim asked={asked} />
    </Replaced>
  );
}

function NameOrClaim({ asked }: { readonly asked: Asked<HumanBitcoinAddress> }) {
  const may = useMay();
  const { value, error, again } = asked;
  const isUnclaimed = error instanceof WalletSidecarError && error.code === ERROR_CODES.notFound;
  if (value !== null) return <Name name={value} onChanged={again} />;
  if (error === null) return <p class="dim">{text.loading}</p>;
  if (isUnclaimed && may('update_human_bitcoin_address')) {
    return (
      <section class="card narrow">
        <p>{text.receive.nameHelp}</p>
        <Claim onClaimed={again} />
      </section>
    );
  }
  return <Notice kind="warn" title={text.receive.noName} words={error.message} />;
}

interface NameProps {
  readonly name: HumanBitcoinAddress;
  readonly onChanged: () => void;
}

function Name({ name, onChanged }: NameProps) {
  const may = useMay();
  const { lightning_address, human_bitcoin_address, updatable } = name;
  return (
    <section class="card show">
      <h2>{lightning_address}</h2>
      <QrCopy
        value={lightning_address}
        qr={nameQrText}
        label={text.receive.ways.name}
        copyLabel={text.receive.lightningAddress}
      />
      <Copy value={human_bitcoin_address} label={text.receive.bitcoinAddress} />
      <Arrivals />
      {updatable && may('update_human_bitcoin_address') && (
        <details>
          <summary>{text.receive.changeName}</summary>
          <Claim onClaimed={onChanged} />
        </details>
      )}
    </section>
  );
}

const nameQrText = (name: string) => `lightning:${name}`;

function Claim({ onClaimed }: { readonly onClaimed: () => void }) {
  const name = useTyped();
  const claim = useAct(
    ({ api }) => api.claimHumanBitcoinAddress({ username: name.value.trim() }),
    onClaimed,
  );
  return (
    <Form act={claim} submit={text.receive.claim} onSubmit={claim.run}>
      <Field {...text.receive.username} of={name} isRequired most={24} />
    </Form>
  );
}
