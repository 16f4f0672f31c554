import { useState } from 'preact/hooks';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/notice.tsx';
import { PressTwice } from '../../parts/press-twice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { TimeField } from '../../parts/time-field.tsx';
import { text } from '../../texts/index.ts';
import { momentText, typedMoment } from '../../values/moment.ts';

interface AgainSinceProps {
  /** The endpoint to send to; all of them unless given. */
  readonly endpoint: string | undefined;
  readonly onAgain: () => void;
}

/** Sends every delivery since a time again, for a receiver that was away for longer. */
export function AgainSince({ endpoint, onAgain }: AgainSinceProps) {
  const [since, setSince] = useState('');
  const sinceMs = typedMoment(since);
  const again = useAct(
    ({ api }, fromMs: number) => api.redeliverWebhooks({ since: fromMs, endpoint }),
    onAgain,
  );
  return (
    <details class="card">
      <summary>{text.webhooks.againSince}</summary>
      <TimeField
        type="datetime-local"
        label={text.webhooks.since}
        help={text.webhooks.againSinceHelp}
        value={since}
        onChange={setSince}
      />
      <PressTwice
        words={text.webhooks.again}
        question={text.webhooks.againQuestion(sinceMs === null ? '' : momentText(sinceMs))}
        confirm={text.webhooks.again}
        isBusy={again.isBusy || sinceMs === null}
        onConfirmed={() => sinceMs !== null && again.run(sinceMs)}
      />
      <Problem error={again.error} />
      <div role="status">
        {again.value !== null && (
          <Notice kind="good" title={text.webhooks.sentAgain(again.value.redelivered)} />
        )}
      </div>
    </details>
  );
}
