import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { Notice, Problem } from '../../parts/notice.tsx';
import { PressTwice } from '../../parts/question.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';

/** Lets the owner confirm the budgets after the database was restored. Shows nothing while all is well. */
export function ConfirmBudgets() {
  const asked = useAsked((sidecar) => sidecar.about());
  const confirm = useAct(
    ({ api }) => api.confirmBudgets({ idempotencyKey: newKey() }).then(() => true),
    asked.again,
  );
  const isNeeded = asked.value?.budgets_confirmed === false;
  return (
    <div role="status">
      {isNeeded && confirm.value === null && (
        <>
          <Notice kind="warn" {...text.clients.budgets} />
          <PressTwice {...text.clients.confirmBudgets} act={confirm} />
        </>
      )}
      {confirm.value !== null && <Notice kind="good" title={text.clients.budgetsConfirmed} />}
      <Problem error={confirm.error} />
    </div>
  );
}
