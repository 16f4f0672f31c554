/** Where the sidecar that leads is reached by the others of its database (docs/decisions.md 139). */
export const peers = `
ALTER TABLE ownership ADD COLUMN sealed_peer TEXT;
`;
