import { expect, test } from 'vitest'
import type { PolicyholderFormField } from '../../src/product/configuration.ts'
import { fieldsOfForm } from '../../src/tenants/deployment/policyholder-form.ts'
import type { FieldResponse } from '../../src/tenants/deployment/product-contract.ts'
import { timesAsLong } from '../support/scaling.ts'

const field = (name: string, conditions: FieldResponse['conditions'] = []): FieldResponse => ({
  name,
  title: name.toUpperCase(),
  type: 'string',
  conditions,
  isOptional: false,
  isRepeatable: false,
  isConstrained: false,
})

const input = (name: string, ...governors: string[]): PolicyholderFormField => ({
  name,
  isRequired: name === 'b',
  conditions: governors.map(one => ({ field: one, values: ['x'] })),
})

const shown = (fields: FieldResponse[], form?: PolicyholderFormField[]) =>
  fieldsOfForm(fields, form).map(({ name, isOptional, conditions }) => [
    name,
    isOptional,
    ...conditions.map(one => one.field),
  ])

test('fields come in the order of the form, then those that it leaves out; only the form requires any', () => {
  expect(shown([field('a'), field('b'), field('c')], [input('c'), input('b', 'c'), input('lost')])).toEqual([
    ['c', true],
    ['b', false, 'c'],
    ['a', true],
  ])
  expect(shown([field('a'), field('b')])).toEqual([
    ['a', true],
    ['b', true],
  ])
})

test('a condition counts only on an earlier field without conditions, so that no two fields wait for each other', () => {
  expect(shown([field('a'), field('b')], [input('a', 'b'), input('b', 'a')])).toEqual([
    ['a', true],
    ['b', false, 'a'],
  ])
  const governed = field('a', [{ field: 'b', values: ['x'] }])
  expect(shown([governed, field('b')], [input('a'), input('b', 'a', 'unknown')])).toEqual([
    ['a', true, 'b'],
    ['b', false],
  ])
})

test('the work grows in proportion to the form', async () => {
  const formOf = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `field_${at}`)
    const governors = names.slice(-20)
    const fields = names.map(name => field(name))
    const form = names.map(name => input(name, ...governors))
    return () => fieldsOfForm(fields, form)
  }
  expect(await timesAsLong(formOf(1_000), formOf(8_000), { most: 20, leastMs: 5 })).toBeLessThan(20)
})
