/** A credential names a client and not its wallet: such rows are found by their key alone. */
export const connectorStateByKey = `
CREATE INDEX connector_state_by_key ON connector_state (kind, key);
`;
