/**
 * Makes the index of the words of cached payments anew, with a word for each filter of lists (docs/decisions.md 193): a
 * word that many payments have, and few of those that fit, is found without reading the others.
 */
export const filtersAsWords = `
DROP INDEX cache_by_word;
CREATE INDEX cache_by_word ON cache USING gin (array_to_tsvector(string_to_array(
  substr(idx, 7, 4) || replace('>' || direction || ' <' || rail || ' =' || status || ' ' || words,
    ' ', ' ' || substr(idx, 7, 4)), ' ')));`;
