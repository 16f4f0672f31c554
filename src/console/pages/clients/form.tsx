import { useState } from 'preact/hooks';
import type { Scope } from '../../../client/index.ts';
import { useSignedIn } from '../../api/signed-in.tsx';
import { Field, Option, Options, Select, type Typed } from '../../parts/fields.tsx';
import { Form, type FormProps } from '../../parts/form.tsx';
import { text } from '../../texts/index.ts';
import { type ClientForm, spends, type Wrong, wrongIn } from '../../values/client-form.ts';
import { nowMs } from '../../values/clock.ts';
import { grantableScopes, SCOPES } from '../../values/grant.ts';
import { momentText } from '../../values/moment.ts';
import { satsOf } from '../../values/sats.ts';
import { permissionWords } from './card.tsx';

/** The most characters of a label. The sidecar counts bytes, and says so. */
const MOST_LABEL = 64;

interface ClientFieldsProps extends Required<Pick<FormProps, 'act' | 'submit'>> {
  readonly title: string;
  readonly start: ClientForm;
  /** Called with a form that has nothing wrong. */
  readonly onSubmit: (form: ClientForm) => void;
}

/** The form of a client. What is missing is said when the form is sent. */
export function ClientFields(props: ClientFieldsProps) {
  const { title, start, submit, act, onSubmit } = props;
  const { client: own } = useSignedIn();
  const grantable = grantableScopes(own);
  const [form, setForm] = useState(start);
  const [isSent, setSent] = useState(false);
  const set = (change: Partial<ClientForm>) => setForm({ ...form, ...change });
  const found = wrongIn(form, { nowMs: nowMs(), approveAbove: own.approve_above });
  const wrong: Partial<Wrong> = isSent ? found : {};
  const bound = own.expires_at;
  return (
    <Form
      class="card"
      act={act}
      submit={submit}
      isChecked
      onSubmit={() => {
        setSent(true);
        if (!Object.values(found).includes(true)) onSubmit(form);
      }}
    >
      <h2>{title}</h2>
      <Field {...text.clients.label} of={typedIn(form, 'label', set)} most={MOST_LABEL} />
      <Options
        legend={text.clients.scopesLegend}
        // What a client has may be taken from it, even where it could not be given.
        offered={SCOPES.filter((one) => grantable.includes(one) || start.scopes.includes(one))}
        wordsOf={(scope) => scopeWords(scope, form.own)}
        chosen={form.scopes}
        onChange={(scope, isChosen) => set({ scopes: toggled(form.scopes, scope, isChosen) })}
      />
      {/* Single permissions that the client has. They can be taken from it, and given back. */}
      {start.permissions.length > 0 && (
        <Options
          legend={text.clients.permissionsLegend}
          offered={start.permissions}
          wordsOf={permissionWords}
          chosen={form.permissions}
          onChange={(one, isChosen) =>
            set({ permissions: toggled(form.permissions, one, isChosen) })
          }
        />
      )}
      {!own.own && (
        <Option
          words={text.clients.ownOnly}
          isChosen={form.own}
          onChange={(isOwn) => set({ own: isOwn })}
        />
      )}
      {start.isPaired !== undefined && (
        <Option
          words={text.clients.pairing}
          isChosen={form.isPaired === true}
          onChange={(isPaired) => set({ isPaired })}
        />
      )}
      {form.isPaired && <Field {...text.clients.relay} of={typedIn(form, 'relay', set)} />}
      {wrong.grant && (
        <p role="alert" class="help wrong">
          {text.clients.grantWrong}
        </p>
      )}
      {spends(form) && own.budget === null && (
        <SpendingFields form={form} wrong={wrong} onChange={set} />
      )}
      <Field
        type="date"
        label={text.clients.lastDay}
        help={
          bound === null
            ? text.clients.lastDayHelp
            : text.clients.lastDayHelpBound(momentText(bound))
        }
        wrong={wrong.lastDay ? text.clients.lastDayWrong : null}
        of={typedIn(form, 'lastDay', set)}
      />
    </Form>
  );
}

interface SpendingFieldsProps {
  readonly form: ClientForm;
  readonly wrong: Partial<Wrong>;
  readonly onChange: (change: Partial<ClientForm>) => void;
}

function SpendingFields({ form, wrong, onChange }: SpendingFieldsProps) {
  const { client: own } = useSignedIn();
  const most = own.approve_above === null ? null : satsOf(own.approve_above);
  const amountField = (
    name: 'amount' | 'maxPayment',
    words: { label: string; help: string; wrong?: string },
  ) => (
    <Field
      {...words}
      wrong={wrong[name] ? (words.wrong ?? text.wrongAmount) : null}
      of={typedIn(form, name, onChange)}
      isNumber
    />
  );
  return (
    <fieldset class="options">
      <legend>{text.clients.budgetLegend}</legend>
      <Option
        words={[text.clients.hasBudget]}
        isChosen={form.hasBudget}
        onChange={(hasBudget) => onChange({ hasBudget })}
      />
      {!form.hasBudget && <p class="warn-text">{text.clients.budgetWarning}</p>}
      {form.hasBudget && (
        <div class="columns">
          {amountField('amount', text.clients.amount)}
          <Select
            label={text.clients.period}
            options={text.clients.periods}
            value={form.period}
            onChange={(period) => onChange({ period })}
          />
          {amountField('maxPayment', text.clients.maxPayment)}
        </div>
      )}
      <Field
        label={text.clients.approveAbove.label}
        help={text.clients.approveAbove.help(most)}
        wrong={wrong.approveAbove ? text.clients.approveAbove.wrong(most) : null}
        of={typedIn(form, 'approveAbove', onChange)}
        isNumber
      />
    </fieldset>
  );
}

/** Returns what a scope is called, and what it means for a client that sees only its own, or all. */
function scopeWords(scope: Scope, isOwn: boolean): readonly [string, string] {
  const own: Partial<Record<Scope, string>> = text.clients.ownScopes;
  const [title, help] = text.clients.scopes[scope];
  return [title, (isOwn && own[scope]) || help];
}

function typedIn(
  form: ClientForm,
  name: 'label' | 'relay' | 'amount' | 'maxPayment' | 'approveAbove' | 'lastDay',
  onChange: (change: Partial<ClientForm>) => void,
): Typed {
  return { value: form[name] ?? '', onChange: (typed) => onChange({ [name]: typed }) };
}

function toggled<T>(all: readonly T[], one: T, isChosen: boolean): readonly T[] {
  const others = all.filter((other) => other !== one);
  return isChosen ? [...others, one] : others;
}
