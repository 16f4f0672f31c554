import { useEffect, useState } from 'preact/hooks';
import { fromMsat, type OpenChannelRequest } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAsked } from '../../api/use-asked.ts';
import { useKeptAct } from '../../api/use-kept-act.ts';
import { Field } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PressTwice } from '../../parts/press-twice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { isPeer } from '../../values/peer.ts';
import { satsOf, satsOfMsat, typedMsat } from '../../values/sats.ts';

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
        {open.value !== null && (
          <Notice kind="good" title={text.node.opened}>
            {text.node.openedWords}
          </Notice>
        )}
        {open.isOpen && (
          <Notice kind="warn" title={text.node.openTitle}>
            {text.node.openWords}
          </Notice>
        )}
      </div>
      <Problem error={open.error} />
      {open.isOpen ? (
        <div class="actions">
          <button type="button" class="main" disabled={open.isBusy} onClick={open.again}>
            {text.node.askAgain}
          </button>
          <button type="button" disabled={open.isBusy} onClick={open.forget}>
            {text.node.giveUp}
          </button>
        </div>
      ) : (
        <OpenForm isBusy={open.isBusy} onSubmit={open.run} />
      )}
    </section>
  );
}

function Onchain() {
  const { value } = useAsked(({ api }, signal) => api.nodeInfo({ signal }), [], { live: true });
  if (value === null) return <p>{text.node.fromOnchain}</p>;
  return <p>{text.node.onchain(satsOf(value.onchain_balance))}</p>;
}

interface OpenFormProps {
  readonly isBusy: boolean;
  readonly onSubmit: (request: OpenChannelRequest) => void;
}

function OpenForm({ isBusy, onSubmit }: OpenFormProps) {
  const [size, setSize] = useState('');
  const [peer, setPeer] = useState('');
  const sizeMsat = typedMsat(size);
  const isSizeWrong = size.trim() !== '' && sizeMsat === null;
  const isPeerWrong = peer.trim() !== '' && !isPeer(peer.trim());
  return (
    <>
      <Field
        label={text.node.size}
        wrong={isSizeWrong ? text.wrongAmount : null}
        value={size}
        onChange={setSize}
        isNumber
      />
      <Field
        label={text.node.peer}
        help={text.node.peerHelp}
        wrong={isPeerWrong ? text.node.peerWrong : null}
        value={peer}
        onChange={setPeer}
      />
      <PressTwice
        words={text.node.open}
        question={text.node.openQuestion(sizeMsat === null ? '' : satsOfMsat(sizeMsat))}
        confirm={text.node.openConfirm}
        isBusy={isBusy || sizeMsat === null || isPeerWrong}
        onConfirmed={() => {
          if (sizeMsat === null) return;
          onSubmit({
            value: fromMsat(sizeMsat),
            // The same id never opens a second channel, whatever becomes of the key.
            user_channel_id: newKey(),
            ...(peer.trim() === '' ? {} : { peer: peer.trim() }),
          });
        }}
      />
    </>
  );
}
