import { useRef } from 'preact/hooks';
import type { ListPaymentsRequest } from '../../../client/index.ts';
import { saveBooks } from '../../api/books.ts';
import { newestPayments } from '../../api/payments.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked, useLive } from '../../api/use-asked.ts';
import { useEntryState } from '../../api/use-entry-state.ts';
import { Button } from '../../parts/buttons.tsx';
import { Field, Select, usePaused } from '../../parts/fields.tsx';
import { AskedPart, Problem } from '../../parts/notices.tsx';
import { PaymentDays } from '../../parts/payment-list.tsx';
import { text } from '../../texts/index.ts';
import { AWAITING } from '../../values/approval.ts';
import { clientName } from '../clients/card.tsx';
import { PaymentDetails } from './details.tsx';

/** How many payments are shown at first, and how many more by each press. */
const STEP = 50;

type Filter = Required<Pick<ListPaymentsRequest, 'filter'>> &
  Pick<ListPaymentsRequest, 'direction' | 'rail' | 'client'>;

interface Shown {
  readonly filter: Filter;
  readonly search: string;
  readonly most: number;
}

/** The payments by filters and words, at first all or those that wait for approval; or with an index one of them. */
export function Payments({ rest }: { readonly rest: string }) {
  if (rest === '' || rest === AWAITING) {
    return <PaymentTable key={rest} start={rest === '' ? 'all' : rest} />;
  }
  return <PaymentDetails key={rest} index={rest} />;
}

function PaymentTable({ start }: { readonly start: Filter['filter'] }) {
  const [shown, show] = useEntryState<Shown>({ filter: { filter: start }, search: '', most: STEP });
  const { filter, search, most } = shown;
  const may = useMay();
  const setFilter = (changed: Filter) => show({ ...shown, filter: changed });
  const sought = usePaused(search.trim() || undefined);
  /** What the last answer was for; null while the cache is brought up to date. */
  const answered = useRef<{ readonly sought: string | undefined } | null>(null);
  const asked = useLive(
    async (sidecar, signal) => {
      // Another search is one request: what has changed meanwhile asks by itself.
      const isTyped = answered.current !== null && answered.current.sought !== sought;
      if (!isTyped) answered.current = null;
      const request = { ...filter, text: sought, limit: most };
      const page = await newestPayments(sidecar, request, signal, isTyped);
      answered.current = { sought };
      return page;
    },
    [filter, sought, most],
  );
  return (
    <>
      <div class="filters">
        <Field
          label={text.payments.search}
          of={{ value: search, onChange: (typed) => show({ ...shown, search: typed }) }}
        />
        <Select
          label={text.payments.status}
          options={text.payments.statuses}
          value={filter.filter}
          onChange={(chosen) => setFilter({ ...filter, filter: chosen })}
        />
        <Select
          label={text.payments.direction}
          options={text.payments.directions}
          value={filter.direction ?? 'any'}
          onChange={(chosen) => setFilter({ ...filter, direction: unlessAny(chosen) })}
        />
        <Select
          label={text.payments.rail}
          options={text.payments.rails}
          value={filter.rail ?? 'any'}
          onChange={(chosen) => setFilter({ ...filter, rail: unlessAny(chosen) })}
        />
        {may('list_clients') && (
          <MadeBy client={filter.client} onChange={(client) => setFilter({ ...filter, client })} />
        )}
      </div>
      <section class="card">
        <AskedPart asked={asked}>
          {({ payments, next }) => (
            <>
              <p class="dim" role="status">
                {text.payments.shown(payments.length, next !== null)}
              </p>
              <PaymentDays payments={payments} isMore={next !== null} />
              {next !== null && (
                <Button
                  words={text.payments.more}
                  onPress={() => show({ ...shown, most: most + STEP })}
                />
              )}
            </>
          )}
        </AskedPart>
      </section>
      {may('get_updated_payments') && <Books />}
    </>
  );
}

interface MadeByProps {
  readonly client: string | undefined;
  readonly onChange: (client: string | undefined) => void;
}

/** Which client made them, such as what one till took. Shows nothing where the wallet has no clients. */
function MadeBy({ client, onChange }: MadeByProps) {
  const { value } = useAsked(({ api }, signal) => api.listClients({ signal }));
  const names = new Map<string, string>([['any', text.payments.anyClient]]);
  // One that ended meanwhile is still what the list is filtered by.
  if (client !== undefined) names.set(client, text.clients.unnamed(client));
  for (const one of Object.values(value?.clients ?? {})) {
    if (one.client_pk !== null) names.set(one.client_pk, clientName(one));
  }
  if (names.size === 1) return null;
  return (
    <Select
      label={text.payments.client}
      options={Object.fromEntries(names)}
      value={client ?? 'any'}
      onChange={(chosen) => onChange(unlessAny(chosen))}
    />
  );
}

function Books() {
  const save = useAct(saveBooks);
  return (
    <>
      <Problem error={save.error} />
      <Button words={text.payments.csv} isBusy={save.isBusy} onPress={save.run} />
      <p class="help">{text.payments.csvHelp}</p>
    </>
  );
}

function unlessAny<T extends string>(chosen: T): Exclude<T, 'any'> | undefined {
  return chosen === 'any' ? undefined : (chosen as Exclude<T, 'any'>);
}
