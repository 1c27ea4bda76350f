import { z } from '@hono/zod-openapi'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EARLIEST, LATEST } from '../../src/kernel/time.ts'
import {
  booleanOr,
  list,
  Name,
  OptionalBoolean,
  OptionalName,
  OptionalTimestamp,
  optional,
  PageSize,
  RequestBoolean,
  RequestDecimal,
  RequestFieldValues,
  RequestTimestamp,
  requestInteger,
  withDefaults,
} from '../../src/platform/wire.ts'

const SEED = 20261121

const problem = (schema: z.ZodType, wire: unknown): string => {
  const result = schema.safeParse(wire)
  if (result.success) throw new Error(`${JSON.stringify(wire)} was accepted`)
  return result.error.issues.map(issue => issue.message).join(' ')
}

test('zod is configured without JIT, because Workers have no eval', () => {
  expect(z.config().jitless).toBe(true)
})

describe('Timestamps', () => {
  test(`parses every instant from an integer and from its digits (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.integer({ min: EARLIEST, max: LATEST }), ms => {
        expect(RequestTimestamp.parse(ms)).toBe(ms)
        expect(RequestTimestamp.parse(String(ms))).toBe(ms)
      }),
      { seed: SEED },
    )
  })

  test.each([
    [1.5, 'not a fraction'],
    ['tomorrow', 'milliseconds since'],
    ['', 'milliseconds since'],
    ['1e12', 'milliseconds since'],
    [null, 'not null'],
    [{}, 'not an object'],
    [LATEST + 1, 'years 0001 to 9999'],
    [1e300, 'years 0001 to 9999'],
    [-(2 ** 60), 'years 0001 to 9999'],
    ['9'.repeat(16), 'years 0001 to 9999'],
    ['9'.repeat(350), 'years 0001 to 9999'],
  ])('rejects %j with a message that says what to send', (wire, words) => {
    const schema = z.object({ policyStartTimestamp: RequestTimestamp })
    const message = problem(schema, { policyStartTimestamp: wire })
    expect(message).toMatch(/^'policyStartTimestamp' must .*\.$/)
    expect(message).toContain(words)
  })
})

describe('Decimals', () => {
  test(`numbers and text keep every digit (seed ${SEED})`, () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }),
        fc.nat(9_999_999),
        (whole, part) => {
          const text = `${whole}.${String(part).padStart(7, '0')}`
          const plain = text.replace(/\.?0+$/, '')
          expect(RequestDecimal.parse(text)).toBe(plain.replace(/^-0$/, '0') || '0')
        },
      ),
      { seed: SEED },
    )
  })

  test('writes a number out, never in exponent form', () => {
    expect(RequestDecimal.parse(250)).toBe('250')
    expect(RequestDecimal.parse('+0250.50')).toBe('250.5')
    expect(RequestDecimal.parse(1e-7)).toBe('0.0000001')
    expect(RequestDecimal.parse(999_999_999_999_999)).toBe('999999999999999')
  })

  test.each([
    1e15,
    1e300,
    1e-8,
    0.1 + 0.2,
    '1e5',
    '1,000',
    '9'.repeat(16),
    `1e${'9'.repeat(30)}`,
    'x',
    '',
    true,
    null,
  ])('rejects %j', wire => {
    expect(problem(RequestDecimal, wire)).toContain('must be a plain decimal number')
  })
})

describe('Booleans and whole numbers', () => {
  test('reads booleans from text in any case', () => {
    for (const wire of [true, 'true', 'TRUE', '1']) expect(RequestBoolean.parse(wire)).toBe(true)
    for (const wire of [false, 'false', 'False', '0']) expect(RequestBoolean.parse(wire)).toBe(false)
    expect(problem(z.object({ finalize: RequestBoolean }), { finalize: 'yes' })).toBe(
      "'finalize' must be true or false, not text.",
    )
    expect(problem(RequestBoolean, 1)).toBe('The request must be true or false, not a number.')
  })

  test('uses the default for a boolean that is absent, null or empty', () => {
    for (const wire of [undefined, null, '']) expect(booleanOr(true).parse(wire)).toBe(true)
    expect(booleanOr(true).parse('false')).toBe(false)
  })

  test('reads integers from digits, and enforces their bounds', () => {
    expect(requestInteger(1).parse('12')).toBe(12)
    expect(requestInteger(1).parse('1.0')).toBe(1)
    expect(problem(requestInteger(1), '1.5')).toBe('The request must be a whole number, not a fraction.')
    expect(problem(requestInteger(1), 0)).toBe('The request must be at least 1.')
    expect(problem(requestInteger(1), 1.5)).toBe('The request must be a whole number, not a fraction.')
    expect(problem(requestInteger(1, 5), '6')).toBe('The request must be at most 5.')
    expect(problem(requestInteger(1), '9'.repeat(20))).toBe('The request must be a number, not text.')
  })

  test('uses a page size of 100 by default, and 1,000 at most', () => {
    expect(PageSize.parse(undefined)).toBe(100)
    expect(PageSize.parse('')).toBe(100)
    expect(PageSize.parse('5000')).toBe(1_000)
    expect(problem(PageSize, '-1')).toBe('The request must be at least 1.')
  })
})

test('the length of a name is counted in characters, and an emoji is one', () => {
  expect(Name.parse('🚗'.repeat(128))).toHaveLength(256)
  for (const name of ['🚗'.repeat(129), 'x'.repeat(129), 'x'.repeat(10_000)])
    expect(problem(z.object({ name: Name }), { name })).toBe("'name' must have at most 128 characters.")
  expect(problem(Name, '')).toBe('The request must not be empty.')
})

describe('Optional properties', () => {
  const schema = z.object({
    name: OptionalName,
    at: OptionalTimestamp,
    on: OptionalBoolean,
    names: list(Name),
    inner: optional(z.object({ name: Name })),
  })

  test('treat absent, null and empty text alike', () => {
    expect(schema.parse({})).toEqual({ names: [] })
    expect(schema.parse({ name: null, at: null, on: null, names: null, inner: null })).toEqual({ names: [] })
    expect(schema.parse({ name: '', at: '', on: '' })).toEqual({ names: [] })
  })

  test('do not allow null inside a list', () => {
    expect(problem(schema, { names: ['a', null] })).toBe("'names[1]' must be text, not null.")
  })

  test('name a limit of one in the singular', () => {
    const one = z.object({ names: z.array(z.string()).min(1), flag: z.string().max(1) })
    expect(problem(one, { names: [], flag: 'a' })).toBe("'names' must have at least 1 entry.")
    expect(problem(one, { names: ['a'], flag: 'ab' })).toBe("'flag' must have at most 1 character.")
  })

  test('reject a list of more than 10,000 entries', () => {
    expect(problem(schema, { names: Array(10_001).fill('a') })).toBe(
      "'names' must have at most 10000 entries.",
    )
  })

  test('get their defaults in a record, except for what the client sends', () => {
    const filled = withDefaults({ recreate: false }, z.object({ recreate: RequestBoolean }))
    expect(filled.parse({})).toEqual({ recreate: false })
    expect(filled.parse({ recreate: null })).toEqual({ recreate: false })
    expect(filled.parse({ recreate: 'true' })).toEqual({ recreate: true })
    expect(problem(filled, null)).toBe('The request must be an object, not null.')
    expect(problem(filled, [])).toBe('The request must be an object, not a list.')
  })
})

describe('Field values', () => {
  test('are kept unchanged', () => {
    const wire = { make: 'Volvo', year: 2019, owners: ['A', 'B'], leased: false, note: null, none: [] }
    expect(RequestFieldValues.parse(wire)).toBe(wire)
    expect(RequestFieldValues.parse(null)).toEqual({})
  })

  test('are rejected with the path of each entry that is not a plain value', () => {
    const schema = z.object({ fieldValues: RequestFieldValues })
    expect(problem(schema, { fieldValues: { a: { b: 1 }, c: [null], 'd e': [[1]] } })).toBe(
      "'fieldValues.a' must be a value or a list of values, not an object. " +
        "'fieldValues.c' must list simple values: text, numbers, true, false. " +
        "'fieldValues['d e']' must list simple values: text, numbers, true, false.",
    )
    expect(problem(schema, { fieldValues: 'x' })).toBe("'fieldValues' must be an object of field values.")
  })

  test('may have a field named __proto__', () => {
    const wire = JSON.parse('{"__proto__": ["x"]}')
    expect(Object.keys(RequestFieldValues.parse(wire))).toEqual(['__proto__'])
  })
})
