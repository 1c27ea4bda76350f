// Descriptions of the unit of a value, not of its meaning. The schemas of wire.ts have them, and src/wording adds the meaning.
// They are separate from the schemas so that src/wording can be loaded without those.

/** For a time in a request. */
export const REQUEST_MILLISECONDS = 'Milliseconds since 1970-01-01T00:00Z: an integer, or its digits as text.'

/** For a time in a response. */
export const MILLISECONDS = 'Milliseconds since 1970-01-01T00:00Z, as text.'

export const REQUEST_DECIMAL = 'A number, or a text with a plain decimal number.'

/** For text with all digits of a number. */
export const EXACT_DECIMAL = 'An exact decimal.'

export const CURRENCY = 'ISO 4217 code.'

export const UNITS: ReadonlySet<string> = new Set([
  REQUEST_MILLISECONDS,
  MILLISECONDS,
  REQUEST_DECIMAL,
  EXACT_DECIMAL,
  CURRENCY,
])
