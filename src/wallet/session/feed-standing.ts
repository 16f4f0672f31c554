/** An open feed has stored everything, may lack something, or has no valid credential to ask its node with. */
export const FEED_STATES = ['caught_up', 'behind', 'no_credentials'] as const;

/** The state of an open feed, and since when it has been in it, in milliseconds. */
export interface FeedStanding {
  readonly state: (typeof FEED_STATES)[number];
  readonly sinceMs: number;
}
