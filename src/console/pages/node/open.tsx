import { useEffect } from 'preact/hooks';
import type { OpenChannelRequest } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useLive } from '../../api/use-asked.ts';
import { type KeptAct, useKeptAct } from '../../api/use-kept-act.ts';
import { AskAgain, PressTwice } from '../../parts/buttons.tsx';
import { Field, useTyped, useTypedAmount } from '../../parts/fields.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { isPeer } from '../../values/peer.ts';
import { satsOf } from '../../values/sats.ts';

/** Opens a channel, once however often the page is reloaded. */
export function OpenChannel({ onOpened }: { readonly onOpened: () => void }) {
  const may = useMay();
  const open = useKeptAct('open-channel', ({ api }, request: OpenChannelRequest, key) =>
    api.openChannel(request, { idempotencyKey: key }),
  );
  useEffect(() => {
    if (open.value !== null) onOpened();
  }, [open.value]);
  return (
    <section class="card narrow">
      <h2>{text.node.open}</h2>
      <p>{text.node.feeSentence}</p>
      {may('node_info') ? <Onchain /> : <p>{text.node.fromOnchain}</p>}
      <div role="status">
        {open.value !== null && <Notice kind="good" {...text.node.opened} />}
        {open.isOpen && <Notice kind="warn" {...text.node.notKnown} />}
      </div>
      <Problem error={open.error} />
      {open.isOpen ? <AskAgain act={open} onGivenUp={open.forget} /> : <OpenForm open={open} />}
    </section>
  );
}

function Onchain() {
  const { value } = useLive(({ api }, signal) => api.nodeInfo({ signal }));
  if (value === null) return <p>{text.node.fromOnchain}</p>;
  return <p>{text.node.onchain(satsOf(value.onchain_balance))}</p>;
}

interface OpenFormProps {
  readonly open: Pick<KeptAct<OpenChannelRequest, unknown>, 'isBusy' | 'run'>;
}

function OpenForm({ open }: OpenFormProps) {
  const { amount: value, wrong, ...size } = useTypedAmount();
  const peer = useTyped();
  const isPeerWrong = peer.given !== undefined && !isPeer(peer.given);
  const act = {
    isBusy: open.isBusy || value === undefined || isPeerWrong,
    run() {
      if (value === undefined) return;
      // The same id never opens a second channel, whatever becomes of the key.
      const request = { value, user_channel_id: newKey() };
      open.run(peer.given === undefined ? request : { ...request, peer: peer.given });
    },
  };
  return (
    <>
      <Field label={text.node.size} wrong={wrong} of={size} isNumber />
      <Field {...text.node.peer} wrong={isPeerWrong ? text.node.peerWrong : null} of={peer} />
      <PressTwice
        words={text.node.open}
        {...text.node.opening(value === undefined ? '' : satsOf(value))}
        act={act}
      />
    </>
  );
}
