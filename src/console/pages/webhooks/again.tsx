import type { RedeliverWebhooksResponse } from '../../../client/index.ts';
import { type Act, useAct } from '../../api/use-act.ts';
import { PressTwice } from '../../parts/buttons.tsx';
import { Field, useTyped } from '../../parts/fields.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { momentText, typedMoment } from '../../values/moment.ts';

interface AgainSinceProps {
  /** The endpoint to send to; all of them unless given. */
  readonly endpoint: string | undefined;
  readonly onAgain: () => void;
}

/** Sends every delivery since a time again, for a receiver that was away for longer. */
export function AgainSince({ endpoint, onAgain }: AgainSinceProps) {
  const typed = useTyped();
  const sinceMs = typedMoment(typed.value);
  const again = useAct(
    ({ api }, since: number) => api.redeliverWebhooks({ since, endpoint }),
    onAgain,
  );
  return (
    <details class="card">
      <summary>{text.webhooks.againSince}</summary>
      <Field type="datetime-local" {...text.webhooks.since} of={typed} />
      <PressTwice
        words={text.webhooks.again}
        question={text.webhooks.againQuestion(sinceMs === null ? '' : momentText(sinceMs))}
        act={{
          isBusy: again.isBusy || sinceMs === null,
          run: () => sinceMs !== null && again.run(sinceMs),
        }}
      />
      <SentAgain act={again} />
    </details>
  );
}

interface SentAgainProps {
  readonly act: Pick<Act<never, RedeliverWebhooksResponse>, 'value' | 'error'>;
  /** Whether it is still worth saying. */
  readonly isShown?: boolean;
}

/** What became of sending again. */
export function SentAgain({ act: { value, error }, isShown = true }: SentAgainProps) {
  return (
    <>
      <Problem error={error} />
      <div role="status">
        {value !== null && isShown && (
          <Notice kind="good" title={text.webhooks.sentAgain(value.redelivered)} />
        )}
      </div>
    </>
  );
}
