// Separate from the table: the process that runs tenant code has no database.

/** The longest locator or key, and the longest value, in characters. */
export const LONGEST_AUX_NAME = 256
export const LONGEST_AUX_VALUE = 100_000
