import type { Payment } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useLive } from '../../api/use-asked.ts';
import { Copy } from '../../parts/copy.tsx';
import { Fact, Money } from '../../parts/facts.tsx';
import { Field, useTyped } from '../../parts/fields.tsx';
import { Form } from '../../parts/form.tsx';
import { AskedPart } from '../../parts/notices.tsx';
import { nameOf, StatusBadge } from '../../parts/payment-list.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';
import { isAwaiting } from '../../values/approval.ts';
import { newKey } from '../../values/key.ts';
import { momentText } from '../../values/moment.ts';
import { linkTo } from '../../values/place.ts';
import { PaymentActs } from './acts.tsx';

/** One payment with every field. */
export function PaymentDetails({ index }: { readonly index: string }) {
  const may = useMay();
  const asked = useLive(({ api }, signal) => api.payment({ index }, { signal }), [index]);
  return (
    <>
      <p>
        <a href={linkTo('payments')}>{text.payments.back}</a>
      </p>
      <AskedPart asked={asked}>
        {(payment) => (
          <>
            <Replaced shown={String(isAwaiting(payment))}>
              <section class="card show">
                <h2>{nameOf(payment)}</h2>
                {payment.description !== null && payment.description !== nameOf(payment) && (
                  <p class="dim">{payment.description}</p>
                )}
                <p class="big">
                  <Money of={payment.amount} />
                </p>
                <p role="status">
                  <StatusBadge payment={payment} />
                </p>
                <PaymentActs payment={payment} onDone={asked.again} />
              </section>
            </Replaced>
            {may('update_personal_note') && <Note payment={payment} onSaved={asked.again} />}
            <Fields payment={payment} />
          </>
        )}
      </AskedPart>
    </>
  );
}

function Note({ payment, onSaved }: { readonly payment: Payment; readonly onSaved: () => void }) {
  const { index } = payment;
  const before = payment.personal_note ?? '';
  const note = useTyped(before);
  const personal_note = note.given ?? null;
  const save = useAct(
    ({ api }) => api.updatePersonalNote({ index, personal_note }, { idempotencyKey: newKey() }),
    onSaved,
  );
  const onChange = (words: string) => {
    save.forget();
    note.onChange(words);
  };
  return (
    <Form
      class="card"
      act={save}
      submit={save.value === null ? text.payments.saveNote : text.payments.saved}
      isQuiet
      isReady={note.value.trim() !== before}
      onSubmit={save.run}
    >
      <Field {...text.send.note} of={{ ...note, onChange }} most={200} />
    </Form>
  );
}

const TIMES = ['created_at', 'updated_at', 'finalized_at', 'expires_at', 'rate_at'] as const;
const WORDS = [
  'description',
  'external_id',
  'rate',
  'rate_source',
  'status_msg',
  'message',
  'payer_name',
  'partner_prop_fee',
] as const;
const CHOICES = ['rail', 'kind', 'direction', 'status', 'priority'] as const;
const AMOUNTS = ['amount', 'fees', 'refunded', 'partner_base_fee'] as const;
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
  const names = text.payments.fields;
  const refunds = payment.refund_of && linkTo('payments', payment.refund_of);
  const named = (field: keyof typeof names) => ({ name: names[field], title: field });
  return (
    <section class="card show">
      <h2>{text.payments.allFields}</h2>
      <dl class="facts">
        {AMOUNTS.map((field) => {
          const amount = payment[field];
          return <Fact key={field} {...named(field)} of={amount && <Money of={amount} />} />;
        })}
        <Fact
          {...named('price')}
          of={payment.price && `${payment.price.amount} ${payment.price.currency}`}
        />
        {TIMES.map((field) => {
          const time = payment[field];
          return (
            <Fact key={field} {...named(field)} of={time === null ? null : momentText(time)} />
          );
        })}
        {CHOICES.map((field) => {
          const value = isSaid(payment, field) ? null : payment[field];
          return <Fact key={field} {...named(field)} of={value && wordsOf(field, value)} />;
        })}
        {WORDS.map((field) => (
          <Fact key={field} {...named(field)} of={isSaid(payment, field) ? null : payment[field]} />
        ))}
        <Fact
          {...named('refund_of')}
          of={refunds && <a href={refunds}>{names.refunded_payment}</a>}
        />
      </dl>
      {LONG.map((field) => {
        const value = payment[field];
        return value === null ? null : (
          <div key={field}>
            <h3 title={field}>{names[field]}</h3>
            <Copy value={value} label={names[field]} />
          </div>
        );
      })}
      {payment.tx !== null && (
        <details>
          <summary title="tx">{names.tx}</summary>
          <pre>{JSON.stringify(payment.tx, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

/** Returns the words for a value; a value of a later version has its name alone. */
function wordsOf(field: (typeof CHOICES)[number], value: string): string {
  const words: Readonly<Record<string, string>> = text.payments.values[field];
  return words[value] ?? value;
}
