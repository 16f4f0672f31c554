/**
 * Makes the index of the words of cached payments anew, with the period of the payment, about 11 days, before each
 * word (docs/decisions.md 193).
 */
export const wordsByPeriod = `
DROP INDEX cache_by_word;
CREATE INDEX cache_by_word ON cache USING gin (array_to_tsvector(string_to_array(
  substr(idx, 7, 4) || replace(words, ' ', ' ' || substr(idx, 7, 4)), ' ')));`;
