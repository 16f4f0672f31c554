import type { Payment } from '../../../client/index.ts';
import type { MoneyStanding } from '../../api/use-money.ts';
import { Money } from '../../parts/money.tsx';
import { Notice } from '../../parts/notice.tsx';
import { text } from '../../texts/index.ts';
import { linkTo } from '../../values/place.ts';

interface SendOutcomeProps {
  readonly standing: Exclude<MoneyStanding, { readonly state: 'none' }>;
  readonly onAnother: () => void;
}

/** What became of a payment, as it happens. Unknown is never called failed, and offers no second payment. */
export function SendOutcome({ standing, onAnother }: SendOutcomeProps) {
  const isOpen = standing.state === 'asking' || standing.state === 'unknown';
  return (
    <section class="card narrow">
      <h2>{text.send.outcome}</h2>
      <div role="status">
        <Told standing={standing} />
      </div>
      {!isOpen && (
        <button type="button" onClick={onAnother}>
          {standing.state === 'foreign' ? text.send.forget : text.send.another}
        </button>
      )}
    </section>
  );
}

function Told({ standing }: Pick<SendOutcomeProps, 'standing'>) {
  switch (standing.state) {
    case 'asking':
      return <p class="waiting">{text.send.sending}</p>;
    case 'unknown':
      return (
        <Notice kind="warn" title={text.send.unknownTitle}>
          {text.send.unknown} {standing.error.message}
        </Notice>
      );
    case 'refused':
      return (
        <Notice kind="bad" title={text.send.refusedTitle}>
          {standing.error.message}
        </Notice>
      );
    case 'foreign':
      return (
        <Notice kind="warn" title={text.send.foreignTitle}>
          {text.send.foreign}
        </Notice>
      );
    case 'known':
      return <Known payment={standing.payment} />;
  }
}

function Known({ payment }: { readonly payment: Payment }) {
  const { status, direction, rail, status_msg, index } = payment;
  const isWithdrawal = direction === 'inbound';
  const told = {
    completed: { kind: 'good', title: isWithdrawal ? text.send.withdrawn : text.send.paid },
    failed: { kind: 'bad', title: text.send.failed },
    pending: { kind: 'warn', title: rail === 'onchain' ? text.send.broadcast : text.send.pending },
  } as const;
  const { kind, title } = told[status];
  return (
    <>
      <Notice kind={kind} title={title}>
        <Money of={payment.amount} />
        {status === 'failed' && ` · ${status_msg}`}
      </Notice>
      {status === 'pending' && <p>{text.send.pendingHelp}</p>}
      <dl class="sums">
        <dt>{text.send.feePaid}</dt>
        <dd>
          <Money of={payment.fees} />
        </dd>
      </dl>
      <p>
        <a href={linkTo('payments', index)}>{text.send.details}</a>
      </p>
    </>
  );
}
