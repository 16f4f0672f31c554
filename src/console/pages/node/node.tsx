import { useCan, useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAsked } from '../../api/use-asked.ts';
import { useEvery } from '../../api/use-every.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Notice } from '../../parts/notice.tsx';
import { text } from '../../texts/index.ts';
import { momentText } from '../../values/moment.ts';
import { NodeChannels } from './channels.tsx';

/** How often to look whether the sidecar and its node work, in milliseconds. */
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
  const asked = useAsked(
    async (sidecar, signal) => {
      const [{ status }, { feed }] = await Promise.all([
        sidecar.api.health({ signal }),
        sidecar.about(),
      ]);
      return { status, feed };
    },
    [],
    { live: true },
  );
  useEvery(LOOK_MS, true, asked.again);
  return (
    <section class="card">
      <h2>{text.node.health}</h2>
      <AskedPart asked={asked}>
        {({ status, feed }) => (
          <>
            {status === 'ok' ? (
              <p>{text.node.healthy}</p>
            ) : (
              <Notice kind="warn" title={text.node.notHealthy}>
                {status}
              </Notice>
            )}
            {feed !== null && (
              <p class="dim">{text.node.feed[feed.state](momentText(feed.since))}</p>
            )}
          </>
        )}
      </AskedPart>
    </section>
  );
}

function Facts() {
  const { about } = useSignedIn();
  const may = useMay();
  return (
    <section class="card">
      <h2>{text.node.facts}</h2>
      <dl class="facts aligned">
        <dt>{text.node.kind}</dt>
        <dd>{about.node_kind}</dd>
        <dt>{text.node.network}</dt>
        <dd>{networkName(about.network)}</dd>
        <dt>{text.node.sidecarVersion}</dt>
        <dd>{about.version}</dd>
      </dl>
      {may('node_info') && <Keys />}
    </section>
  );
}

function Keys() {
  const asked = useAsked(({ api }, signal) => api.nodeInfo({ signal }), []);
  return (
    <AskedPart asked={asked}>
      {({ version, node_pk, user_pk }) => (
        <>
          <dl class="facts aligned">
            <dt>{text.node.nodeVersion}</dt>
            <dd>{version}</dd>
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
