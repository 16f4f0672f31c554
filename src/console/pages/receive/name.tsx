import { useState } from 'preact/hooks';
import {
  ERROR_CODES,
  type HumanBitcoinAddress,
  WalletSidecarError,
} from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { type Asked, useAsked } from '../../api/use-asked.ts';
import { Arrivals } from '../../parts/arrivals.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Field } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Qr } from '../../parts/qr.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';

/** The wallet's name, by which people pay it as they write a mail; and claiming it. */
export function ReceiveByName() {
  const asked = useAsked(({ api }, signal) => api.humanBitcoinAddress({ signal }), []);
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
  return (
    <Notice kind="warn" title={text.receive.noName}>
      {error.message}
    </Notice>
  );
}

function Name({
  name,
  onChanged,
}: {
  readonly name: HumanBitcoinAddress;
  readonly onChanged: () => void;
}) {
  const may = useMay();
  return (
    <section class="card show">
      <h2>{name.lightning_address}</h2>
      <Qr
        content={`lightning:${name.lightning_address}`}
        label={text.receive.qr(text.receive.ways.name)}
      />
      <Copy value={name.lightning_address} label={text.receive.lightningAddress} />
      <Copy value={name.human_bitcoin_address} label={text.receive.bitcoinAddress} />
      <Arrivals />
      {name.updatable && may('update_human_bitcoin_address') && (
        <details>
          <summary>{text.receive.changeName}</summary>
          <Claim onClaimed={onChanged} />
        </details>
      )}
    </section>
  );
}

function Claim({ onClaimed }: { readonly onClaimed: () => void }) {
  const [username, setUsername] = useState('');
  const claim = useAct(
    ({ api }, given: string) => api.claimHumanBitcoinAddress({ username: given }),
    onClaimed,
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        claim.run(username.trim());
      }}
    >
      <Field
        label={text.receive.username}
        help={text.receive.usernameHelp}
        value={username}
        onChange={setUsername}
        isRequired
        most={24}
      />
      <Problem error={claim.error} />
      <button type="submit" class="main" disabled={claim.isBusy}>
        {text.receive.claim}
      </button>
    </form>
  );
}
