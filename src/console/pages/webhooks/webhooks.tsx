import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAsked } from '../../api/use-asked.ts';
import { AskedPart } from '../../parts/notices.tsx';
import { Deliveries } from './deliveries.tsx';
import { Delivery } from './delivery.tsx';
import { Endpoints } from './endpoints.tsx';

/** Endpoints, for the wallet's owner alone, and the deliveries to them; or one delivery. */
export function Webhooks({ rest }: { readonly rest: string }) {
  const { about } = useSignedIn();
  return about.owner ? <OwnersWebhooks rest={rest} /> : <Deliveries endpoints={[]} />;
}

function OwnersWebhooks({ rest }: { readonly rest: string }) {
  const may = useMay();
  const asked = useAsked(({ api }, signal) => api.webhookEndpoints({ signal }));
  return (
    <AskedPart asked={asked}>
      {({ endpoints }) =>
        rest === '' ? (
          <>
            <Endpoints endpoints={endpoints} onChanged={asked.again} />
            {may('get_updated_payments') && <Deliveries endpoints={endpoints} />}
          </>
        ) : (
          <Delivery key={rest} id={rest} endpoints={endpoints} />
        )
      }
    </AskedPart>
  );
}
