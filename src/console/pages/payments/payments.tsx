import { useState } from 'preact/hooks';
import type { ListPaymentsRequest, Payment } from '../../../client/index.ts';
import { allPayments, newestPayments } from '../../api/payments.ts';
import { saveFile } from '../../api/save-file.ts';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { Field } from '../../parts/field.tsx';
import { PaymentList } from '../../parts/payment-list.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Select } from '../../parts/select.tsx';
import { text } from '../../texts/index.ts';
import { paymentCsv } from '../../values/payment-csv.ts';
import { matches } from '../../values/payment-search.ts';
import { PaymentDetails } from './details.tsx';

/** How many payments are shown at first, and how many more by each press. */
const STEP = 50;

type Filter = Required<Pick<ListPaymentsRequest, 'filter'>> &
  Pick<ListPaymentsRequest, 'direction' | 'rail'>;

/** The payments, by filters and words; or with an index the details of one. */
export function Payments({ rest }: { readonly rest: string }) {
  return rest === '' ? <PaymentTable /> : <PaymentDetails key={rest} index={rest} />;
}

function PaymentTable() {
  const [filter, setFilter] = useState<Filter>({ filter: 'all' });
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(STEP);
  const isSearched = search.trim() !== '';
  const asked = useAsked(
    async (sidecar, signal) => {
      if (!isSearched) return newestPayments(sidecar, { ...filter, limit: most }, signal);
      const all = await allPayments(sidecar, filter, signal);
      const found = all.filter((payment) => matches(payment, search.trim()));
      return { payments: found.slice(0, most), next: found[most]?.index ?? null };
    },
    [filter, search, most],
    { live: true },
  );
  const save = useAct(async (sidecar, request: Filter) => {
    const all = await allPayments(sidecar, request, new AbortController().signal);
    const found = isSearched ? all.filter((payment) => matches(payment, search.trim())) : all;
    saveFile('payments.csv', 'text/csv;charset=utf-8', paymentCsv(found));
  });
  return (
    <>
      <div class="filters">
        <Field label={text.payments.search} value={search} onChange={setSearch} />
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
          onChange={(chosen) =>
            setFilter({ ...filter, direction: chosen === 'any' ? undefined : chosen })
          }
        />
        <Select
          label={text.payments.rail}
          options={text.payments.rails}
          value={filter.rail ?? 'any'}
          onChange={(chosen) =>
            setFilter({ ...filter, rail: chosen === 'any' ? undefined : chosen })
          }
        />
      </div>
      <section class="card">
        <AskedPart asked={asked}>
          {({ payments, next }) => (
            <Found payments={payments} onMore={next === null ? null : () => setMost(most + STEP)} />
          )}
        </AskedPart>
      </section>
      <Problem error={save.error} />
      <button type="button" disabled={save.isBusy} onClick={() => save.run(filter)}>
        {text.payments.csv}
      </button>
    </>
  );
}

function Found({
  payments,
  onMore,
}: {
  readonly payments: readonly Payment[];
  readonly onMore: (() => void) | null;
}) {
  return (
    <>
      <p class="dim" role="status">
        {text.payments.shown(payments.length, onMore !== null)}
      </p>
      <PaymentList payments={payments} />
      {onMore && (
        <button type="button" onClick={onMore}>
          {text.payments.more}
        </button>
      )}
    </>
  );
}
