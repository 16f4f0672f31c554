import { ERROR_CODES, type Payment, WalletSidecarError } from '../../../client/index.ts';
import type { Sidecar } from '../../api/sidecar.ts';
import { useSignedIn } from '../../api/signed-in.tsx';
import { type Act, useAct } from '../../api/use-act.ts';
import { Button, Question, useQuestion } from '../../parts/buttons.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { decides, isAwaiting } from '../../values/approval.ts';
import { newKey } from '../../values/key.ts';
import { momentText } from '../../values/moment.ts';
import { mayBeSent } from '../../values/outcome.ts';
import { recipientOf, shortened } from '../../values/recipient.ts';
import { satsOf } from '../../values/sats.ts';

interface ApprovalProps {
  readonly payment: Payment;
  /** Called when the payment may stand otherwise than it is shown. */
  readonly onDone: () => void;
}

type Decision = 'approve' | 'reject';

/** What waits for approval, and the decision. It says so where that was decided in between. */
export function Approval({ payment, onDone }: ApprovalProps) {
  const { client } = useSignedIn();
  const decide = useAct(
    (sidecar, decision: Decision) => decided(sidecar, payment.index, decision),
    onDone,
  );
  if (!isAwaiting(payment)) {
    return decide.value === 'before' && <Notice kind="warn" {...text.approval.before} />;
  }
  return (
    <>
      <p>{text.approval.words}</p>
      <Asked payment={payment} />
      <p class="dim">{text.approval.end}</p>
      {decides(client) ? (
        <Decide payment={payment} act={decide} />
      ) : (
        <p class="dim">{text.approval.notYours}</p>
      )}
    </>
  );
}

/**
 * Approves or rejects. Says whether that was done, or had been decided before (error 106). It needs no key that
 * outlives the page: what was decided does not wait any more, so a repeat sends nothing.
 */
async function decided(
  { api }: Sidecar,
  index: string,
  decision: Decision,
): Promise<'done' | 'before'> {
  try {
    await api[decision]({ index }, { idempotencyKey: newKey() });
    return 'done';
  } catch (error) {
    const isRefused = error instanceof WalletSidecarError && error.code === ERROR_CODES.refused;
    if (isRefused && !isAwaiting(await api.payment({ index }))) return 'before';
    throw error;
  }
}

/** What was asked for, as far as it matters to who decides. */
function Asked({ payment }: Pick<ApprovalProps, 'payment'>) {
  const { rail, description, message, created_at, expires_at } = payment;
  const recipient = recipientOf(payment);
  return (
    <dl class="facts">
      <Fact name={text.send.kind} of={text.payments.values.rail[rail]} />
      <Fact
        name={text.send.to}
        of={recipient === null ? text.approval.unnamed : <code>{shortened(recipient)}</code>}
      />
      <Fact name={text.send.description} of={description} />
      <Fact name={text.send.message.label} of={message} />
      <Fact name={text.approval.fee.name} of={text.approval.fee.words} />
      <Fact name={text.approval.asked} of={momentText(created_at)} />
      <Fact name={text.send.expires} of={expires_at === null ? null : momentText(expires_at)} />
    </dl>
  );
}

interface DecideProps extends Pick<ApprovalProps, 'payment'> {
  readonly act: Act<Decision, unknown>;
}

function Decide({ payment: { amount, ...payment }, act }: DecideProps) {
  const { isAsked, asking, button, ask, cancel, agreed } = useQuestion();
  const { isBusy, error, run } = act;
  const recipient = recipientOf(payment);
  const question = text.approval.question(
    amount === null ? text.anyAmount : satsOf(amount),
    recipient === null ? text.approval.unnamed : shortened(recipient),
  );
  const confirmed = () => {
    agreed();
    run('approve');
  };
  if (isAsked) {
    const shown = { asking, cancel, question, confirm: text.approval.confirm, isBusy };
    return <Question {...shown} onConfirmed={confirmed} />;
  }
  const isOpen = error !== null && mayBeSent(error, false);
  return (
    <>
      <Problem error={error} title={isOpen ? text.approval.unknown : text.notDone} />
      <div class="actions">
        <Button
          at={button}
          class="main"
          words={text.approval.approve}
          isBusy={isBusy}
          onPress={ask}
        />
        <Button words={text.approval.reject} isBusy={isBusy} onPress={() => run('reject')} />
      </div>
    </>
  );
}
