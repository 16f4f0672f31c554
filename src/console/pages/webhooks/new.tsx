import { useState } from 'preact/hooks';
import type { AddWebhookEndpointRequest, WebhookEndpoint } from '../../../client/index.ts';
import { Field } from '../../parts/field.tsx';
import { Option } from '../../parts/option.tsx';
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
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<readonly Event[]>(['payment.finalized']);
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        const words = description.trim();
        if (events.length === 0) return;
        onSubmit({ url: url.trim(), events, ...(words === '' ? {} : { description: words }) });
      }}
    >
      <Field
        label={text.webhooks.url}
        help={text.webhooks.urlHelp}
        value={url}
        onChange={setUrl}
        isRequired
      />
      <Field
        label={text.webhooks.description}
        help={text.webhooks.descriptionHelp}
        value={description}
        onChange={setDescription}
        most={MOST_DESCRIPTION}
      />
      <fieldset class="options">
        <legend>{text.webhooks.eventsLegend}</legend>
        {EVENTS.map((event) => (
          <Option
            key={event}
            title={text.webhooks.events[event]}
            help={text.webhooks.eventsHelp[event]}
            isChosen={events.includes(event)}
            onChange={(isChosen) =>
              setEvents(EVENTS.filter((one) => (one === event ? isChosen : events.includes(one))))
            }
          />
        ))}
      </fieldset>
      {events.length === 0 && (
        <p role="alert" class="help wrong">
          {text.webhooks.eventsWrong}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {text.webhooks.submit}
        </button>
        <button type="button" onClick={onCancel}>
          {text.cancel}
        </button>
      </div>
    </form>
  );
}
