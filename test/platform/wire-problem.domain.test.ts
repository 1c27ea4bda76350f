import { z } from '@hono/zod-openapi'
import { expect, test } from 'vitest'
import { list, Name, RequestTimestamp } from '../../src/platform/wire.ts'
import { contractRefusal, pathText } from '../../src/platform/wire-problem.ts'

const schema = z.object({
  productName: Name,
  state: z.enum(['draft', 'quoted']),
  exposures: list(z.object({ name: Name, at: RequestTimestamp })),
})

test('a path is written as in code: exposures[0].perils[2].name', () => {
  expect(pathText(['exposures', 0, 'perils', 2, 'name'])).toBe('exposures[0].perils[2].name')
  expect(pathText(['fieldValues', 'a b'])).toBe("fieldValues['a b']")
  expect(pathText([])).toBe('')
})

test('one response lists every problem of a request with its path', () => {
  const { error } = schema.safeParse({ state: 'sold', exposures: [{ name: '', at: 'now' }, 7] })
  const refusal = contractRefusal(error!, 'invalidRequest')
  expect(refusal.code).toBe('invalidRequest')
  expect(refusal.message.split(/(?<=\.) (?=')/)).toEqual([
    "'productName' is missing; it must be text.",
    "'state' must be one of 'draft', 'quoted'.",
    "'exposures[0].name' must not be empty.",
    "'exposures[0].at' must be a time in milliseconds since 1970-01-01T00:00Z, as an integer or its digits.",
    "'exposures[1]' must be an object, not a number.",
  ])
  expect(refusal.details.fieldErrors).toContainEqual({
    code: 1002,
    ontologyUri: 'exposures[0].name',
    validatorUri: 'too_small',
    message: "'exposures[0].name' must not be empty.",
  })
})

test('a list that is too long is rejected with 413', () => {
  const { error } = schema.safeParse({
    productName: 'motor',
    state: 'draft',
    exposures: Array(10_001).fill({ name: 'vehicle', at: 0 }),
  })
  expect(contractRefusal(error!, 'invalidRequest').status).toBe(413)
})

test('a value of the wrong type is one problem, however long it is', () => {
  const said = (productName: unknown, exposures: unknown) => {
    const { error } = schema.safeParse({ productName, state: 'draft', exposures })
    const { status, message } = contractRefusal(error!, 'invalidRequest')
    return [status, message]
  }
  expect(said('motor', 'x'.repeat(10_001))).toEqual([400, "'exposures' must be a list, not text."])
  expect(said(Array(300).fill('motor'), [])).toEqual([400, "'productName' must be text, not a list."])
})

test('the first hundred problems are listed, and the rest counted', () => {
  const { error } = schema.safeParse({ productName: 'a', state: 'draft', exposures: Array(500).fill(null) })
  const refusal = contractRefusal(error!, 'invalidRequest')
  expect(refusal.message).toMatch(/There are 400 more\.$/)
  expect(refusal.details.fieldErrors).toHaveLength(100)
})

test('no message repeats a value, because it may be a password or personal data', () => {
  const told = [
    { productName: 90210 },
    { productName: 'x90210'.repeat(100), state: 'x90210', exposures: 'x90210' },
    { state: 90210, exposures: [{ at: 'x90210' }, { at: 9.021 }, { at: 90210e15 }] },
  ].map(wire => contractRefusal(schema.safeParse(wire).error!, 'invalidRequest').message)
  expect(told.join(' ')).not.toMatch(/9\.?021/)
})

test('a long path is cut short', () => {
  expect(pathText(['x'.repeat(500), 'ä'.repeat(500)]).length).toBeLessThan(200)
})
