import { useState } from 'preact/hooks';
import type { Permission, Scope } from '../../../client/index.ts';
import { useSignedIn } from '../../api/signed-in.tsx';
import { Field } from '../../parts/field.tsx';
import { Option } from '../../parts/option.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Select } from '../../parts/select.tsx';
import { TimeField } from '../../parts/time-field.tsx';
import { text } from '../../texts/index.ts';
import { type ClientForm, spends, type Wrong, wrongIn } from '../../values/client-form.ts';
import { momentText } from '../../values/moment.ts';

/** The most characters of a label. The sidecar counts bytes, and says so. */
const MOST_LABEL = 64;

interface ClientFieldsProps {
  readonly title: string;
  readonly start: ClientForm;
  /** The scopes that are offered. */
  readonly scopes: readonly Scope[];
  readonly submit: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  /** Called with a form that has nothing wrong. */
  readonly onSubmit: (form: ClientForm) => void;
}

/** The form of a client. What is missing is said when the form is sent. */
export function ClientFields(props: ClientFieldsProps) {
  const { title, start, scopes, submit, isBusy, error, onSubmit } = props;
  const { client: own } = useSignedIn();
  const [form, setForm] = useState(start);
  const [isSent, setSent] = useState(false);
  const set = (change: Partial<ClientForm>) => setForm({ ...form, ...change });
  const found = wrongIn(form);
  const wrong: Wrong = isSent ? found : { grant: false, amount: false, maxPayment: false };
  return (
    <form
      class="card"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setSent(true);
        if (!Object.values(found).includes(true)) onSubmit(form);
      }}
    >
      <h2>{title}</h2>
      <Field
        label={text.clients.label}
        help={text.clients.labelHelp}
        value={form.label}
        onChange={(label) => set({ label })}
        most={MOST_LABEL}
      />
      <GrantFields form={form} scopes={scopes} known={start.permissions} onChange={set} />
      {wrong.grant && (
        <p role="alert" class="help wrong">
          {text.clients.grantWrong}
        </p>
      )}
      {spends(form) && own.budget === null && (
        <BudgetFields form={form} wrong={wrong} onChange={set} />
      )}
      <TimeField
        type="date"
        label={text.clients.lastDay}
        help={
          own.expires_at === null
            ? text.clients.lastDayHelp
            : text.clients.lastDayHelpBound(momentText(own.expires_at))
        }
        value={form.lastDay}
        onChange={(lastDay) => set({ lastDay })}
      />
      <Problem error={error} />
      <button type="submit" class="main" disabled={isBusy}>
        {submit}
      </button>
    </form>
  );
}

type OnChange = (change: Partial<ClientForm>) => void;

function GrantFields({
  form,
  scopes,
  known,
  onChange,
}: {
  readonly form: ClientForm;
  readonly scopes: readonly Scope[];
  /** Single permissions that the client has. They can be taken from it, and given back. */
  readonly known: readonly Permission[];
  readonly onChange: OnChange;
}) {
  return (
    <>
      <fieldset class="options">
        <legend>{text.clients.scopesLegend}</legend>
        {scopes.map((scope) => {
          const [title, help] = text.clients.scopes[scope];
          return (
            <Option
              key={scope}
              title={title}
              help={help}
              isChosen={form.scopes.includes(scope)}
              onChange={(isChosen) => onChange({ scopes: toggled(form.scopes, scope, isChosen) })}
            />
          );
        })}
      </fieldset>
      {known.length > 0 && (
        <fieldset class="options">
          <legend>{text.clients.permissionsLegend}</legend>
          {known.map((permission) => (
            <Option
              key={permission}
              title={permission}
              isChosen={form.permissions.includes(permission)}
              onChange={(isChosen) =>
                onChange({ permissions: toggled(form.permissions, permission, isChosen) })
              }
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

function BudgetFields({
  form,
  wrong,
  onChange,
}: {
  readonly form: ClientForm;
  readonly wrong: Wrong;
  readonly onChange: OnChange;
}) {
  return (
    <fieldset class="options">
      <legend>{text.clients.budgetLegend}</legend>
      <Option
        title={text.clients.hasBudget}
        isChosen={form.hasBudget}
        onChange={(hasBudget) => onChange({ hasBudget })}
      />
      {!form.hasBudget && <p class="warn-text">{text.clients.budgetWarning}</p>}
      {form.hasBudget && (
        <div class="columns">
          <Field
            label={text.clients.amount}
            help={text.clients.amountHelp}
            wrong={wrong.amount ? text.wrongAmount : null}
            value={form.amount}
            onChange={(amount) => onChange({ amount })}
            isNumber
          />
          <Select
            label={text.clients.period}
            options={text.clients.periods}
            value={form.period}
            onChange={(period) => onChange({ period })}
          />
          <Field
            label={text.clients.maxPayment}
            help={text.clients.maxPaymentHelp}
            wrong={wrong.maxPayment ? text.wrongAmount : null}
            value={form.maxPayment}
            onChange={(maxPayment) => onChange({ maxPayment })}
            isNumber
          />
        </div>
      )}
    </fieldset>
  );
}

function toggled<T>(all: readonly T[], one: T, isChosen: boolean): readonly T[] {
  const others = all.filter((other) => other !== one);
  return isChosen ? [...others, one] : others;
}
