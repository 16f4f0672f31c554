import { useCan, useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAsked, useLive } from '../../api/use-asked.ts';
import { useEvery } from '../../api/use-every.ts';
import { useWalletName } from '../../api/wallet-name.ts';
import { Copy } from '../../parts/copy.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Field } from '../../parts/fields.tsx';
import { AskedCard, AskedPart, Unhealthy } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { momentText } from '../../values/moment.ts';
import { NodeChannels } from './channels.tsx';

/** The most characters of a wallet's name, which has to fit beside the pages. */
const MOST_NAME = 40;
const LOOK_MS = 5000;

/** The node behind the wallet: whether it works, what it is, and its channels. */
export function Node() {
  const may = useMay();
  const can = useCan();
  return (
    <>
      <Health />
      <Facts />
      {can('channels') && may('list_channels', 'open_channel') && <NodeChannels />}
    </>
  );
}

function Health() {
  const asked = useLive(async (sidecar, signal) => {
    const told = [sidecar.api.health({ signal }), sidecar.about()] as const;
    const [{ status }, { feed }] = await Promise.all(told);
    return { status, feed };
  });
  useEvery(LOOK_MS, true, asked.again);
  return (
    <AskedCard isOne title={text.node.health} asked={asked}>
      {({ status, feed }) => (
        <>
          {status === 'ok' ? <p>{text.node.healthy}</p> : <Unhealthy status={status} />}
          {feed !== null && <p class="dim">{text.node.feed[feed.state](momentText(feed.since))}</p>}
        </>
      )}
    </AskedCard>
  );
}

function Facts() {
  const { about } = useSignedIn();
  const may = useMay();
  const named = useWalletName();
  return (
    <section class="card show">
      <h2>{text.node.facts}</h2>
      <dl class="facts aligned">
        <Fact name={text.node.kind} of={about.node_kind} />
        <Fact name={text.node.network} of={networkName(about.network)} />
        <Fact name={text.node.sidecarVersion} of={about.version} />
      </dl>
      {may('node_info') && <Keys />}
      <Field
        {...text.node.name}
        most={MOST_NAME}
        of={{
          value: named.value ?? '',
          onChange: (typed) => (typed.trim() === '' ? named.forget() : named.keep(typed)),
        }}
      />
    </section>
  );
}

function Keys() {
  const asked = useAsked(({ api }, signal) => api.nodeInfo({ signal }));
  return (
    <AskedPart asked={asked}>
      {({ version, node_pk, user_pk }) => (
        <>
          <dl class="facts aligned">
            <Fact name={text.node.nodeVersion} of={version} />
          </dl>
          <h3>{text.node.nodeId}</h3>
          <Copy value={node_pk} label={text.node.nodeId} />
          <h3>{text.node.wallet}</h3>
          <Copy value={user_pk} label={text.node.wallet} />
        </>
      )}
    </AskedPart>
  );
}

/** Returns the words for a network; a network of a later version has its name alone. */
function networkName(network: string): string {
  const names: Readonly<Record<string, string>> = text.node.networks;
  return names[network] ?? network;
}
