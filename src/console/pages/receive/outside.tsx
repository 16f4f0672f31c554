import { useState } from 'preact/hooks';
import { type CreatedInvoice, fromMsat } from '../../../client/index.ts';
import { usePayFromOutside } from '../../api/sandbox.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { typedMsat } from '../../values/sats.ts';

/** Plays the payer of an invoice, on the sandbox. It asks for an amount where the invoice names none. */
export function PayFromOutside({ made }: { readonly made: CreatedInvoice }) {
  const [amount, setAmount] = useState('');
  const pay = usePayFromOutside();
  const amountMsat = typedMsat(amount);
  const isOpen = made.amount === null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        pay.run({
          payable: made.invoice,
          ...(amountMsat === null ? {} : { amount: fromMsat(amountMsat) }),
        });
      }}
    >
      {isOpen && (
        <Field
          label={text.sandbox.amount}
          value={amount}
          onChange={setAmount}
          isNumber
          isRequired
        />
      )}
      <Problem error={pay.error} />
      <button type="submit" disabled={pay.isBusy || (isOpen && amountMsat === null)}>
        {text.sandbox.payIt}
      </button>
    </form>
  );
}
