import { useState } from 'preact/hooks';
import { type Amount, fromMsat, type Payable, toMsat } from '../../../client/index.ts';
import { useAsked } from '../../api/use-asked.ts';
import { Choice } from '../../parts/choice.tsx';
import { Field } from '../../parts/field.tsx';
import { Money } from '../../parts/money.tsx';
import { useQuestion } from '../../parts/use-question.ts';
import { text } from '../../texts/index.ts';
import type { MoneyRequest } from '../../values/kept-payment.ts';
import { momentText } from '../../values/moment.ts';
import { satsOf, typedMsat } from '../../values/sats.ts';
import { amountProblem, methodOf, onchainUri, usualFeeLimitMsat } from '../../values/terms.ts';

type Priority = 'high' | 'normal' | 'background';

interface SendTermsProps {
  /** The string that was read. */
  readonly string: string;
  /** The ways to pay it, the best first; not empty. */
  readonly payables: readonly Payable[];
  readonly onSend: (request: MoneyRequest) => void;
}

/** What is paid, by which way, how much it costs at most; and the two presses that pay. */
export function SendTerms({ string, payables, onSend }: SendTermsProps) {
  const [place, setPlace] = useState('0');
  const payable = payables[Number(place)] ?? payables[0];
  if (payable === undefined) return null;
  return (
    <section class="card narrow">
      <h2>
        {text.send.terms}
        {payable.amount !== null && (
          <>
            {' · '}
            <Money of={payable.amount} />
          </>
        )}
      </h2>
      {payables.length > 1 && (
        <Choice
          legend={text.send.way}
          options={payables.map(({ kind }, at) => [String(at), text.send.kinds[kind]] as const)}
          value={place}
          onChange={setPlace}
        />
      )}
      <Explained payable={payable} string={string} />
      <Terms key={place} payable={payable} onSend={onSend} />
    </section>
  );
}

function Explained({ payable, string }: { readonly payable: Payable; readonly string: string }) {
  const { kind, description, expires_at, min_amount, max_amount } = payable;
  const method = methodOf(payable);
  const isShort = string.length <= MOST_SHOWN;
  return (
    <dl class="facts">
      <dt>{text.send.kind}</dt>
      <dd>{text.send.kinds[kind]}</dd>
      {description !== null && (
        <>
          <dt>{text.send.description}</dt>
          <dd>{description}</dd>
        </>
      )}
      {payable.amount === null && (min_amount !== null || max_amount !== null) && (
        <>
          <dt>{text.send.bounds}</dt>
          <dd>
            {text.send.between(min_amount && satsOf(min_amount), max_amount && satsOf(max_amount))}
          </dd>
        </>
      )}
      {expires_at !== null && (
        <>
          <dt>{text.send.expires}</dt>
          <dd>{momentText(expires_at)}</dd>
        </>
      )}
      <dt>{text.send.to}</dt>
      <dd class="mono">
        {isShort ? string : shortened(method)}
        {!isShort && (
          <details>
            <summary>{text.send.whole}</summary>
            {method}
          </details>
        )}
      </dd>
    </dl>
  );
}

function Terms({
  payable,
  onSend,
}: Pick<SendTermsProps, 'onSend'> & { readonly payable: Payable }) {
  const [typedAmount, setAmount] = useState('');
  const [typedFee, setFee] = useState<string | null>(null);
  const [message, setMessage] = useState('');
  const [note, setNote] = useState('');
  const [priority, setPriority] = useState<Priority>('normal');
  const { isAsked, asking, button, ask, cancel } = useQuestion<HTMLFieldSetElement>();
  const amountMsat = payable.amount === null ? typedMsat(typedAmount) : toMsat(payable.amount);
  const estimate = useFeeEstimate(payable, amountMsat);
  const usualMsat =
    amountMsat === null
      ? null
      : usualFeeLimitMsat({ kind: payable.kind, fee_estimate: estimate }, amountMsat);
  const feeMsat = typedFee === null || typedFee === '' ? usualMsat : feeOf(typedFee);
  const problem = amountProblem(payable, amountMsat);
  const isOnchain = payable.kind === 'onchain';
  if (amountMsat !== null && feeMsat !== null && isAsked) {
    const shared = {
      // An amount that the string names stands in it.
      amount: payable.amount === null || isOnchain ? fromMsat(amountMsat) : undefined,
      max_fee: fromMsat(feeMsat),
      personal_note: note.trim() || undefined,
    };
    const pay = () =>
      onSend(
        isOnchain
          ? { call: 'payOnchain', request: { address: methodOf(payable), priority, ...shared } }
          : {
              call: 'pay',
              request: {
                payable: methodOf(payable),
                message: message.trim() || undefined,
                ...shared,
              },
            },
      );
    return (
      <fieldset ref={asking} tabIndex={-1} aria-label={text.send.sure}>
        <Sums amountMsat={amountMsat} feeMsat={feeMsat} />
        <p>{text.send.sure}</p>
        <div class="buttons">
          <button type="button" class="main" onClick={pay}>
            {text.send.payNow}
          </button>
          <button type="button" onClick={cancel}>
            {text.cancel}
          </button>
        </div>
      </fieldset>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === null && feeMsat !== null) ask();
      }}
    >
      {payable.amount === null && (
        <Field
          label={text.send.amount}
          wrong={typedAmount === '' || problem === null ? null : text.send.problems[problem]}
          value={typedAmount}
          onChange={setAmount}
          isNumber
          isRequired
        />
      )}
      <Field
        label={text.send.fee}
        help={text.send.feeHelp(estimate === null ? null : satsOf(estimate))}
        wrong={typedFee !== null && typedFee !== '' && feeMsat === null ? text.wrongAmount : null}
        value={typedFee ?? (usualMsat === null ? '' : satsOf(fromMsat(usualMsat)))}
        onChange={setFee}
        isNumber
        isRequired
      />
      {isOnchain && (
        <Choice<Priority>
          legend={text.send.priority}
          options={PRIORITIES.map((one) => [one, text.send.priorities[one]] as const)}
          value={priority}
          onChange={setPriority}
        />
      )}
      <details>
        <summary>{text.send.more}</summary>
        {!isOnchain && payable.kind !== 'invoice' && (
          <Field
            label={text.send.message}
            help={text.send.messageHelp}
            value={message}
            onChange={setMessage}
            most={200}
          />
        )}
        <Field
          label={text.send.note}
          help={text.send.noteHelp}
          value={note}
          onChange={setNote}
          most={200}
        />
      </details>
      {amountMsat !== null && feeMsat !== null && (
        <Sums amountMsat={amountMsat} feeMsat={feeMsat} />
      )}
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

const PRIORITIES: readonly Priority[] = ['high', 'normal', 'background'];

/** What a payment costs: the amount, the highest fee, and both together. */
function Sums({ amountMsat, feeMsat }: { readonly amountMsat: bigint; readonly feeMsat: bigint }) {
  return (
    <dl class="sums">
      <dt>{text.send.arrives}</dt>
      <dd>
        <Money of={amountMsat} />
      </dd>
      <dt>{text.send.feeAtMost}</dt>
      <dd>
        <Money of={feeMsat} />
      </dd>
      <dt class="total">{text.send.totalAtMost}</dt>
      <dd class="total">
        <Money of={amountMsat + feeMsat} />
      </dd>
    </dl>
  );
}

/** Returns the fee that was typed; zero is one. Null for what is no amount. */
function feeOf(typed: string): bigint | null {
  return /^\s*0+(\.0*)?\s*$/.test(typed) ? 0n : typedMsat(typed);
}

/** The longest string that is shown whole: an address on chain, or a name. */
const MOST_SHOWN = 90;

/** Returns both ends of a long string, by which people compare it. */
function shortened(value: string): string {
  return value.length <= MOST_SHOWN ? value : `${value.slice(0, 16)} … ${value.slice(-16)}`;
}
