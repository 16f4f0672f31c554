/**
 * Adds the sets of who made the payments of a bundle (docs/decisions.md 193). What was bundled before is known to have
 * no maker only where none is kept: a text that does not open says that it is not known.
 */
export const bundledMakers = `
ALTER TABLE word_bundle ADD COLUMN sealed_makers TEXT COLLATE "C";
ALTER TABLE word_bundle ALTER sealed_makers SET STORAGE MAIN;
UPDATE word_bundle SET sealed_makers = '' WHERE wallet IN (SELECT wallet FROM connector_state WHERE kind = 'maker');
`;
