// Apart from the table: the process that runs tenant code has no database.

/** The most characters of a locator or key, and of a value. */
export const LONGEST_AUX_NAME = 256
export const LONGEST_AUX_VALUE = 100_000
