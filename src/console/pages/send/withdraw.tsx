import { useState } from 'preact/hooks';
import { type Claimable, fromMsat } from '../../../client/index.ts';
import { Field } from '../../parts/field.tsx';
import { text } from '../../texts/index.ts';
import type { MoneyRequest } from '../../values/kept-payment.ts';
import { satsOf, typedMsat } from '../../values/sats.ts';
import { amountProblem } from '../../values/terms.ts';

interface WithdrawTermsProps {
  readonly claimable: Claimable;
  readonly onSend: (request: MoneyRequest) => void;
}

/** Money that a string lets the wallet take. */
export function WithdrawTerms({ claimable, onSend }: WithdrawTermsProps) {
  const { lnurl, description, min_amount, max_amount } = claimable;
  const [typed, setTyped] = useState(max_amount === null ? '' : satsOf(max_amount));
  const amountMsat = typedMsat(typed);
  const problem = amountProblem(claimable, amountMsat);
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (amountMsat === null || problem !== null) return;
        onSend({ call: 'withdrawLnurl', request: { lnurl, amount: fromMsat(amountMsat) } });
      }}
    >
      <h2>{text.send.withdrawTitle}</h2>
      {description !== null && <p>{description}</p>}
      <Field
        label={text.send.withdrawAmount}
        help={text.send.between(min_amount && satsOf(min_amount), max_amount && satsOf(max_amount))}
        wrong={problem === null ? null : text.send.problems[problem]}
        value={typed}
        onChange={setTyped}
        isNumber
        isRequired
      />
      <button type="submit" class="main" disabled={problem !== null}>
        {text.send.withdraw}
      </button>
    </form>
  );
}
