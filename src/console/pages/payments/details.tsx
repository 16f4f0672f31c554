import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Payment } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Field } from '../../parts/field.tsx';
import { Money } from '../../parts/money.tsx';
import { nameOf, StatusBadge } from '../../parts/payment-list.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { momentText } from '../../values/moment.ts';
import { linkTo } from '../../values/place.ts';
import { PaymentActs } from './acts.tsx';

/** One payment with every field. */
export function PaymentDetails({ index }: { readonly index: string }) {
  const may = useMay();
  const asked = useAsked(({ api }, signal) => api.payment({ index }, { signal }), [index], {
    live: true,
  });
  return (
    <>
      <p>
        <a href={linkTo('payments')}>{text.payments.back}</a>
      </p>
      <AskedPart asked={asked}>
        {(payment) => (
          <>
            <section class="card">
              <h2>{nameOf(payment)}</h2>
              <p class="big">
                <Money of={payment.amount} />
              </p>
              <p role="status">
                <StatusBadge payment={payment} />
              </p>
              <PaymentActs payment={payment} onDone={asked.again} />
            </section>
            {may('update_personal_note') && <Note payment={payment} onSaved={asked.again} />}
            <Fields payment={payment} />
          </>
        )}
      </AskedPart>
    </>
  );
}

function Note({ payment, onSaved }: { readonly payment: Payment; readonly onSaved: () => void }) {
  const { index, personal_note } = payment;
  const [note, setNote] = useState(personal_note ?? '');
  const save = useAct(
    ({ api }, words: string) =>
      api
        .updatePersonalNote(
          { index, personal_note: words === '' ? null : words },
          { idempotencyKey: newKey() },
        )
        .then(() => true),
    onSaved,
  );
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        save.run(note.trim());
      }}
    >
      <Field
        label={text.send.note}
        help={text.send.noteHelp}
        value={note}
        onChange={(words) => {
          save.forget();
          setNote(words);
        }}
        most={200}
      />
      <Problem error={save.error} />
      <button type="submit" disabled={save.isBusy || note.trim() === (personal_note ?? '')}>
        {save.value === null ? text.payments.saveNote : text.payments.saved}
      </button>
    </form>
  );
}

const TIMES = ['created_at', 'updated_at', 'finalized_at', 'expires_at'] as const;
const WORDS = ['status_msg', 'message', 'payer_name', 'partner_prop_fee'] as const;
/** Fields with one of a few values, which have words of their own. */
const CHOICES = ['rail', 'kind', 'direction', 'status', 'priority'] as const;
const AMOUNTS = ['amount', 'fees', 'partner_base_fee'] as const;
const LONG = [
  'index',
  'hash',
  'preimage',
  'offer_id',
  'txid',
  'replacement',
  'address',
  'invoice',
  'partner_pk',
] as const;

/** Whether a field says the same as another one that stands above it. */
function isSaid(payment: Payment, field: keyof Payment): boolean {
  if (field === 'kind') return payment.kind === payment.rail;
  return field === 'status_msg' && payment.status_msg === payment.status;
}

/** Every field that the payment has. Its name in the API shows when a pointer rests on it. */
function Fields({ payment }: { readonly payment: Payment }) {
  return (
    <section class="card">
      <h2>{text.payments.allFields}</h2>
      <dl class="facts">
        {AMOUNTS.map((field) => {
          const amount = payment[field];
          return amount === null ? null : (
            <Fact key={field} name={field}>
              <Money of={amount} />
            </Fact>
          );
        })}
        {TIMES.map((field) => {
          const time = payment[field];
          return time === null ? null : (
            <Fact key={field} name={field}>
              {momentText(time)}
            </Fact>
          );
        })}
        {CHOICES.map((field) => {
          const value = payment[field];
          return value === null || isSaid(payment, field) ? null : (
            <Fact key={field} name={field}>
              {wordsOf(field, value)}
            </Fact>
          );
        })}
        {WORDS.map((field) => {
          const words = payment[field];
          return words === null || isSaid(payment, field) ? null : (
            <Fact key={field} name={field}>
              {words}
            </Fact>
          );
        })}
      </dl>
      {LONG.map((field) => {
        const value = payment[field];
        return value === null ? null : (
          <div key={field}>
            <h3 title={field}>{text.payments.fields[field]}</h3>
            <Copy value={value} label={text.payments.fields[field]} />
          </div>
        );
      })}
      {payment.tx !== null && (
        <details>
          <summary title="tx">{text.payments.fields.tx}</summary>
          <pre>{JSON.stringify(payment.tx, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

type FieldName = keyof typeof text.payments.fields;

function Fact({
  name,
  children,
}: {
  readonly name: FieldName;
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <dt title={name}>{text.payments.fields[name]}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Returns the words for a value; a value of a later version has its name alone. */
function wordsOf(field: (typeof CHOICES)[number], value: string): string {
  const words: Readonly<Record<string, string>> = text.payments.values[field];
  return words[value] ?? value;
}
