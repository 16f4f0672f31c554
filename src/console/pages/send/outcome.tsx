import type { Payment } from '../../../client/index.ts';
import type { MoneyStanding } from '../../api/use-money.ts';
import { Button } from '../../parts/buttons.tsx';
import { Fact, Money } from '../../parts/facts.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { isAwaiting } from '../../values/approval.ts';
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
        <Button
          words={standing.state === 'foreign' ? text.send.forget : text.send.another}
          onPress={onAnother}
        />
      )}
    </section>
  );
}

function Told({ standing }: Pick<SendOutcomeProps, 'standing'>) {
  switch (standing.state) {
    case 'asking':
      return <p class="waiting">{text.send.sending}</p>;
    case 'unknown': {
      const words = `${text.send.unknown} ${standing.error.message}`;
      return <Notice kind="warn" title={text.send.unknownTitle} words={words} />;
    }
    case 'refused':
      return <Problem error={standing.error} title={text.send.refusedTitle} />;
    case 'foreign':
      return <Notice kind="warn" {...text.send.foreign} />;
    case 'known':
      return <Known payment={standing.payment} />;
  }
}

function Known({ payment }: { readonly payment: Payment }) {
  const { status, direction, rail, status_msg, index } = payment;
  const isWithdrawal = direction === 'inbound';
  const waits = isAwaiting(payment);
  const onItsWay = rail === 'onchain' ? text.send.broadcast : text.send.pending;
  const told = {
    completed: { kind: 'good', title: isWithdrawal ? text.send.withdrawn : text.send.paid },
    failed: { kind: 'bad', title: text.send.failed },
    pending: { kind: 'warn', title: waits ? text.send.awaiting : onItsWay },
  } as const;
  const words = (
    <>
      <Money of={payment.amount} />
      {status === 'failed' && ` · ${status_msg}`}
    </>
  );
  return (
    <>
      <Notice {...told[status]} words={words} />
      {waits && <p>{text.send.awaitingHelp}</p>}
      {status === 'pending' && <p>{text.send.pendingHelp}</p>}
      {!waits && (
        <dl class="sums">
          <Fact name={text.send.feePaid} of={<Money of={payment.fees} />} />
        </dl>
      )}
      <p>
        <a href={linkTo('payments', index)}>{text.send.details}</a>
      </p>
    </>
  );
}
