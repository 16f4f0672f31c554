import { useState } from 'preact/hooks';
import { type Amount, fromMsat, type Payable, toMsat } from '../../../client/index.ts';
import { onchainUri } from '../../../client/onchain-uri.ts';
import { useSignedIn } from '../../api/signed-in.tsx';
import { useAsked } from '../../api/use-asked.ts';
import { Button, useQuestion } from '../../parts/buttons.tsx';
import { Fact, Money } from '../../parts/facts.tsx';
import { Choice, Field, OrderNumber, useTyped, useTypedAmount } from '../../parts/fields.tsx';
import { inPlace } from '../../parts/form.tsx';
import { text } from '../../texts/index.ts';
import { mustWait } from '../../values/approval.ts';
import type { MoneyRequest } from '../../values/kept.ts';
import { momentText } from '../../values/moment.ts';
import { priceText } from '../../values/price.ts';
import { isShort, shortened } from '../../values/recipient.ts';
import { satsOf, satsOfMsat, typedMsatOrZero } from '../../values/sats.ts';
import { amountProblem, methodOf, ownPrice, usualFeeLimitMsat } from '../../values/terms.ts';

interface TermsProps {
  readonly payable: Payable;
  /** The received payment that is refunded, and what can be of it, in millisatoshis; null where none is. */
  readonly refund: { readonly of: string | null; readonly leftMsat: bigint | null };
  readonly onSend: (request: MoneyRequest) => void;
}

/** What is to be paid, or refunded by it. */
export interface SendTermsProps extends Pick<TermsProps, 'onSend' | 'refund'> {
  readonly string: string;
  /** The ways to pay it, the best first; not empty. */
  readonly payables: readonly Payable[];
}

/** What is paid, by which way, how much it costs at most; and the two presses that pay. */
export function SendTerms({ string, payables, refund, onSend }: SendTermsProps) {
  const [place, setPlace] = useState('0');
  const found = payables[Number(place)] ?? payables[0];
  if (found === undefined) return null;
  // What is refunded has an amount, of which there is as much left.
  const priced = refund.of === null ? ownPrice(found) : null;
  const payable = priced ? { ...found, amount: priced.amount } : found;
  const ways = Object.fromEntries(payables.map(({ kind }, at) => [at, text.send.kinds[kind]]));
  return (
    <section class="card narrow">
      <h2>
        {text.send.terms}
        {payable.amount !== null && (
          <>
            {' · '}
            {priced ? priceText(priced.price) : <Money of={payable.amount} />}
          </>
        )}
      </h2>
      {priced && <p class="dim">{text.send.priced}</p>}
      {payables.length > 1 && (
        <Choice legend={text.send.way} options={ways} value={place} onChange={setPlace} />
      )}
      <Explained payable={payable} string={string} />
      <Terms key={place} payable={payable} refund={refund} onSend={onSend} />
    </section>
  );
}

function Explained({ payable, string }: { readonly payable: Payable; readonly string: string }) {
  const { kind, description, expires_at, amount, min_amount, max_amount } = payable;
  const method = methodOf(payable);
  const isWhole = isShort(string);
  const isBounded = amount === null && (min_amount !== null || max_amount !== null);
  return (
    <dl class="facts">
      <Fact name={text.send.kind} of={text.send.kinds[kind]} />
      <Fact name={text.send.description} of={description} />
      <Fact name={text.send.bounds} of={isBounded ? boundsText(payable) : null} />
      <Fact name={text.send.expires} of={expires_at === null ? null : momentText(expires_at)} />
      <dt>{text.send.to}</dt>
      <dd class="mono">
        {isWhole ? string : shortened(method)}
        {!isWhole && (
          <details>
            <summary>{text.send.whole}</summary>
            {method}
          </details>
        )}
      </dd>
    </dl>
  );
}

/** Returns between which amounts the receiver takes one. */
export function boundsText({
  min_amount,
  max_amount,
}: Pick<Payable, 'min_amount' | 'max_amount'>): string {
  return text.send.between(min_amount && satsOf(min_amount), max_amount && satsOf(max_amount));
}

function Terms({ payable, refund, onSend }: TermsProps) {
  const { leftMsat } = refund;
  const typed = useTypedAmount(leftMsat === null ? '' : satsOfMsat(leftMsat));
  const [typedFee, setFee] = useState<string | null>(null);
  const message = useTyped();
  const note = useTyped();
  const orderNumber = useTyped();
  const { client } = useSignedIn();
  const [priority, setPriority] = useState<Priority>('normal');
  const { isAsked, asking, button, ask, cancel } = useQuestion();
  const amountMsat = payable.amount === null ? typed.msat : toMsat(payable.amount);
  const estimate = useFeeEstimate(payable, amountMsat);
  const usualMsat =
    amountMsat === null
      ? null
      : usualFeeLimitMsat({ kind: payable.kind, fee_estimate: estimate }, amountMsat);
  const feeMsat = typedFee === null || typedFee === '' ? usualMsat : typedMsatOrZero(typedFee);
  const isBeyond = leftMsat !== null && amountMsat !== null && amountMsat > leftMsat;
  const problem = isBeyond ? 'refund' : amountProblem(payable, amountMsat);
  const isOnchain = payable.kind === 'onchain';
  const sums = amountMsat !== null && feeMsat !== null && (
    <>
      <Sums amountMsat={amountMsat} feeMsat={feeMsat} />
      {mustWait(client, amountMsat + feeMsat) && <p class="warn-text">{text.send.mustWait}</p>}
    </>
  );
  if (amountMsat !== null && feeMsat !== null && isAsked) {
    const shared = {
      // An amount that the string names stands in it.
      amount: payable.amount === null || isOnchain ? fromMsat(amountMsat) : undefined,
      max_fee: fromMsat(feeMsat),
      personal_note: note.given,
      external_id: orderNumber.given,
      refund_of: refund.of ?? undefined,
    };
    const method = methodOf(payable);
    const request: MoneyRequest = isOnchain
      ? { call: 'payOnchain', request: { address: method, priority, ...shared } }
      : { call: 'pay', request: { payable: method, message: message.given, ...shared } };
    return (
      <fieldset ref={asking} tabIndex={-1} aria-label={text.send.sure}>
        {sums}
        <p>{text.send.sure}</p>
        <div class="buttons">
          <Button class="main" words={text.send.payNow} onPress={() => onSend(request)} />
          <Button words={text.cancel} onPress={cancel} />
        </div>
      </fieldset>
    );
  }
  return (
    <form onSubmit={inPlace(() => problem === null && feeMsat !== null && ask())}>
      {payable.amount === null && (
        <Field
          label={text.send.amount}
          wrong={typed.value === '' || problem === null ? null : text.send.problems[problem]}
          of={typed}
          isNumber
          isRequired
        />
      )}
      <Field
        label={text.send.fee}
        help={text.send.feeHelp(estimate && satsOf(estimate))}
        wrong={typedFee !== null && typedFee !== '' && feeMsat === null ? text.wrongAmount : null}
        of={{
          value: typedFee ?? (usualMsat === null ? '' : satsOfMsat(usualMsat)),
          onChange: setFee,
        }}
        isNumber
        isRequired
      />
      {isOnchain && (
        <Choice
          legend={text.send.priority}
          options={text.send.priorities}
          value={priority}
          onChange={setPriority}
        />
      )}
      <details>
        <summary>{text.send.more}</summary>
        {!isOnchain && payable.kind !== 'invoice' && (
          <Field {...text.send.message} of={message} most={200} />
        )}
        <Field {...text.send.note} of={note} most={200} />
        <OrderNumber of={orderNumber} />
      </details>
      {isBeyond && payable.amount !== null && <p class="warn-text">{text.send.problems.refund}</p>}
      {sums}
      <button
        ref={button}
        type="submit"
        class="main"
        disabled={problem !== null || feeMsat === null}
      >
        {text.send.pay}
      </button>
    </form>
  );
}

type Priority = keyof typeof text.send.priorities;

/** Returns the fee that the node expects. For an address it depends on the amount, so it is asked for again. */
function useFeeEstimate(payable: Payable, amountMsat: bigint | null): Amount | null {
  const uri =
    payable.kind !== 'onchain' || amountMsat === null
      ? null
      : onchainUri(methodOf(payable), amountMsat);
  const { value } = useAsked(
    async ({ api }, signal) => {
      if (uri === null) return null;
      const { payables } = await api.analyze({ payment_string: uri }, { signal });
      return { uri, estimate: payables[0]?.fee_estimate ?? null };
    },
    [uri],
  );
  if (uri === null) return payable.fee_estimate;
  return value?.uri === uri ? value.estimate : null;
}

function Sums({ amountMsat, feeMsat }: { readonly amountMsat: bigint; readonly feeMsat: bigint }) {
  const totalMsat = amountMsat + feeMsat;
  return (
    <dl class="sums">
      <Fact name={text.send.arrives} of={<Money of={amountMsat} />} />
      <Fact name={text.send.feeAtMost} of={<Money of={feeMsat} />} />
      <Fact class="total" name={text.send.totalAtMost} of={<Money of={totalMsat} />} />
    </dl>
  );
}
