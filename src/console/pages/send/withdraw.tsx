import type { Claimable } from '../../../client/index.ts';
import { Field } from '../../parts/fields.tsx';
import { Form } from '../../parts/form.tsx';
import { useTypedAmount } from '../../parts/use-typed.ts';
import { text } from '../../texts/index.ts';
import type { MoneyRequest } from '../../values/kept-payment.ts';
import { satsOf } from '../../values/sats.ts';
import { amountProblem } from '../../values/terms.ts';
import { boundsText } from './terms.tsx';

interface WithdrawTermsProps {
  readonly claimable: Claimable;
  readonly onSend: (request: MoneyRequest) => void;
}

/** Money that a string lets the wallet take. */
export function WithdrawTerms({ claimable, onSend }: WithdrawTermsProps) {
  const { lnurl, description, max_amount } = claimable;
  const { msat, amount, ...typed } = useTypedAmount(max_amount === null ? '' : satsOf(max_amount));
  const problem = amountProblem(claimable, msat);
  return (
    <Form
      class="card narrow"
      act={AT_ONCE}
      submit={text.send.withdraw}
      isReady={problem === null}
      onSubmit={() => {
        if (amount !== undefined) onSend({ call: 'withdrawLnurl', request: { lnurl, amount } });
      }}
    >
      <h2>{text.send.withdrawTitle}</h2>
      {description !== null && <p>{description}</p>}
      <Field
        label={text.send.withdrawAmount}
        help={boundsText(claimable)}
        wrong={problem === null ? null : text.send.problems[problem]}
        of={typed}
        isNumber
        isRequired
      />
    </Form>
  );
}

/** What becomes of it is shown in place of the form. */
const AT_ONCE = { isBusy: false, error: null };
