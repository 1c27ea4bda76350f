/** Thrown in place of what rests on rows of tables that are not at hand: they are fetched, and it is done again. */
export class NeedsTableRows extends Error {}
