import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { Notice } from '../../parts/notice.tsx';
import { PressTwice } from '../../parts/press-twice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';

/** Lets the owner confirm the budgets after the database was restored. Shows nothing while all is well. */
export function ConfirmBudgets() {
  const asked = useAsked((sidecar) => sidecar.about(), []);
  const confirm = useAct(
    ({ api }, _: null) => api.confirmBudgets({ idempotencyKey: newKey() }).then(() => true),
    asked.again,
  );
  const isNeeded = asked.value?.budgets_confirmed === false;
  return (
    <div role="status">
      {isNeeded && confirm.value === null && (
        <>
          <Notice kind="warn" title={text.clients.budgetsTitle}>
            {text.clients.budgetsWords}
          </Notice>
          <PressTwice
            words={text.clients.confirmBudgets}
            question={text.clients.confirmQuestion}
            confirm={text.clients.confirmConfirm}
            isBusy={confirm.isBusy}
            onConfirmed={() => confirm.run(null)}
          />
        </>
      )}
      {confirm.value !== null && <Notice kind="good" title={text.clients.budgetsConfirmed} />}
      <Problem error={confirm.error} />
    </div>
  );
}
