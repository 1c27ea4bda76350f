// Descriptions that say what a value is counted in, and not what it means. Schemas of wire.ts have them; src/wording adds the meaning. They
// are apart from the schemas, so that words can be read without them.

/** Of a time in a request. */
export const REQUEST_MILLISECONDS = 'Milliseconds since 1970-01-01T00:00Z: an integer, or its digits as text.'

/** Of a time in an answer. */
export const MILLISECONDS = 'Milliseconds since 1970-01-01T00:00Z, as text.'

export const REQUEST_DECIMAL = 'A number, or the same as plain decimal text.'

/** Of text with all digits of a number. */
export const EXACT_DECIMAL = 'An exact decimal.'

export const CURRENCY = 'ISO 4217 code.'

export const UNITS: ReadonlySet<string> = new Set([
  REQUEST_MILLISECONDS,
  MILLISECONDS,
  REQUEST_DECIMAL,
  EXACT_DECIMAL,
  CURRENCY,
])
