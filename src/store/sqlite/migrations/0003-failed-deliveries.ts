/** Failed deliveries are counted whenever the metrics are read, among many that were delivered. */
export const failedDeliveries = `
CREATE INDEX delivery_failed ON delivery (seq) WHERE state = 'failed' AND body IS NOT NULL;
`;
