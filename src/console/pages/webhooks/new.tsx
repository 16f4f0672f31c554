import { useState } from 'preact/hooks';
import type { AddWebhookEndpointRequest, WebhookEndpoint } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Options } from '../../parts/fields.tsx';
import { inPlace } from '../../parts/form.tsx';
import { useTyped } from '../../parts/use-typed.ts';
import { text } from '../../texts/index.ts';

type Event = WebhookEndpoint['events'][number];
const EVENTS: readonly Event[] = ['payment.finalized', 'payment.held'];

/** The most characters of a description. The sidecar counts bytes, and says so. */
const MOST_DESCRIPTION = 200;

interface NewEndpointProps {
  readonly isBusy: boolean;
  readonly onSubmit: (request: AddWebhookEndpointRequest) => void;
  readonly onCancel: () => void;
}

/** The form of a new endpoint. Its secret is drawn by the sidecar. */
export function NewEndpoint({ isBusy, onSubmit, onCancel }: NewEndpointProps) {
  const url = useTyped();
  const description = useTyped();
  const [events, setEvents] = useState<readonly Event[]>(['payment.finalized']);
  const submit = () => {
    if (events.length === 0) return;
    const request = { url: url.value.trim(), events };
    const { given } = description;
    onSubmit(given === undefined ? request : { ...request, description: given });
  };
  return (
    <form class="card" onSubmit={inPlace(submit)}>
      <Field {...text.webhooks.url} of={url} isRequired />
      <Field {...text.webhooks.description} of={description} most={MOST_DESCRIPTION} />
      <Options
        legend={text.webhooks.eventsLegend}
        offered={EVENTS}
        wordsOf={(event) => [text.webhooks.events[event], text.webhooks.eventsHelp[event]]}
        chosen={events}
        onChange={(event, isChosen) =>
          setEvents(EVENTS.filter((one) => (one === event ? isChosen : events.includes(one))))
        }
      />
      {events.length === 0 && (
        <p role="alert" class="help wrong">
          {text.webhooks.eventsWrong}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {text.webhooks.submit}
        </button>
        <Button words={text.cancel} onPress={onCancel} />
      </div>
    </form>
  );
}
