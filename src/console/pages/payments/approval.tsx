import {
  ERROR_CODES,
  type Payment,
  type Approval as Told,
  WalletSidecarError,
} from '../../../client/index.ts';
import type { Sidecar } from '../../api/sidecar.ts';
import { useSignedIn } from '../../api/signed-in.tsx';
import { type Act, useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { Button, Question, useQuestion } from '../../parts/buttons.tsx';
import { Fact, Money } from '../../parts/facts.tsx';
import { AskedPart, Notice, Problem } from '../../parts/notices.tsx';
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
      {decides(client) ? (
        <Terms payment={payment} act={decide} />
      ) : (
        <>
          <Asked payment={payment} />
          <p class="dim">{text.approval.notYours}</p>
        </>
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

function Terms({ payment, act }: DecideProps) {
  const { index } = payment;
  const asked = useAsked(({ api }, signal) => api.approval({ index }, { signal }), [index]);
  return (
    <AskedPart asked={asked}>
      {(approval) => (
        <>
          <Asked payment={payment} approval={approval} />
          <Decide payment={payment} recipient={recipient(payment, approval)} act={act} />
        </>
      )}
    </AskedPart>
  );
}

function recipient(payment: Payment, approval: Told | null): string {
  const named = recipientOf(payment) ?? approval?.node_pk ?? null;
  return named === null ? text.approval.unnamed : shortened(named);
}

interface AskedProps extends Pick<ApprovalProps, 'payment'> {
  /** What only who may decide is told. */
  readonly approval?: Told;
}

function Asked({ payment, approval }: AskedProps) {
  const { rail, description, message, created_at, expires_at } = payment;
  return (
    <dl class="facts">
      {approval && (
        <Fact name={text.approval.by} of={approval.client_label ?? shortened(approval.client_pk)} />
      )}
      <Fact name={text.send.kind} of={text.payments.values.rail[rail]} />
      <Fact name={text.send.to} of={<code>{recipient(payment, approval ?? null)}</code>} />
      <Fact name={text.send.description} of={description} />
      <Fact name={text.send.message.label} of={message} />
      {approval && <Fact name={text.approval.fee} of={<Money of={approval.max_fee} />} />}
      <Fact name={text.approval.asked} of={momentText(created_at)} />
      {approval && <Fact name={text.approval.end} of={momentText(approval.expires_at)} />}
      <Fact name={text.send.expires} of={expires_at === null ? null : momentText(expires_at)} />
    </dl>
  );
}

interface DecideProps extends Pick<ApprovalProps, 'payment'> {
  readonly act: Act<Decision, unknown>;
}

function Decide({
  payment: { amount },
  recipient,
  act,
}: DecideProps & { readonly recipient: string }) {
  const { isAsked, asking, button, ask, cancel, agreed } = useQuestion();
  const { isBusy, error, run } = act;
  const question = text.approval.question(
    amount === null ? text.anyAmount : satsOf(amount),
    recipient,
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
