/** Characters of a locator or a key, and of a value. */
export const LONGEST_AUX_NAME = 256
export const LONGEST_AUX_VALUE = 100_000
