/** An index by key alone: a credential names a client and not its wallet. */
export const connectorStateByKey = `
CREATE INDEX connector_state_by_key ON connector_state (kind, key);
`;
