/** An index of failed deliveries: they are counted whenever the metrics are read, and there are many delivered ones. */
export const failedDeliveries = `
CREATE INDEX delivery_failed ON delivery (seq) WHERE state = 'failed' AND body IS NOT NULL;
`;
