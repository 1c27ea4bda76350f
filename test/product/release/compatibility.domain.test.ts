import { expect, test } from 'vitest'
import type { Configuration } from '../../../src/product/configuration.ts'
import { incompatibleChanges } from '../../../src/tenants/deployment/release/compatibility.ts'
import { compileWith, minimal } from '../minimal-archive.ts'

const policy = 'products/boat/policy'

const group = {
  name: 'crew',
  title: 'Crew',
  type: 'group',
  repeatable: true,
  fields: [{ name: 'first_name', title: 'First name', type: 'string' }],
}

const rich = {
  [`${policy}/policy.json`]: {
    fields: [{ name: 'harbour', title: 'Home harbour', type: 'string' }, group],
    paymentSchedules: [
      { type: 'total', name: 'total', displayName: 'At once' },
      { type: 'monthly', name: 'monthly', displayName: 'Monthly' },
    ],
  },
}

const compiled = (changes: Parameters<typeof compileWith>[0]): Configuration => {
  const { configuration, findings } = compileWith({ ...rich, ...changes })
  if (!configuration) throw new Error(JSON.stringify(findings))
  return configuration
}

const before = compiled({})

const changesBy = (changes: Parameters<typeof compileWith>[0]): string[] =>
  incompatibleChanges(before, compiled(changes)).map(
    ({ path, code, message }) => `${path} ${code} ${message}`,
  )

test('the same configuration, or one with additions, is compatible', () => {
  expect(changesBy({})).toEqual([])
  expect(
    changesBy({
      [`${policy}/exposures/hull/exposure.json`]: {
        name: 'hull',
        displayName: 'The hull',
        fields: [{ name: 'length', title: 'Length', type: 'number' }],
      },
    }),
  ).toEqual([])
})

test('a field that is removed, of another type or no longer repeatable is reported with its file', () => {
  const withFields = (...fields: object[]) =>
    changesBy({ [`${policy}/policy.json`]: { ...rich[`${policy}/policy.json`], fields } })
  const harbour = { name: 'harbour', title: 'Home harbour', type: 'string' }
  const file = `${policy}/policy.json`
  expect(withFields(group)).toEqual([`${file} fieldRemoved The field 'harbour' is missing.`])
  expect(withFields({ ...harbour, type: 'number' }, group)).toEqual([
    `${file} fieldTypeChanged The field 'harbour' was of type string and is now number.`,
  ])
  expect(withFields(harbour, { ...group, repeatable: false })).toEqual([
    `${file} fieldNotRepeatable The field 'crew' was repeatable.`,
  ])
  const fields = [{ name: 'last_name', title: 'Last name', type: 'string' }]
  expect(withFields(harbour, { ...group, fields })).toEqual([
    `${file} fieldRemoved The field 'first_name' is missing.`,
  ])
})

test('a removed peril, exposure, payment schedule or product is reported, without the parts below it', () => {
  const hull = `${policy}/exposures/hull`
  const other = {
    [`${hull}/perils/fire.json`]: { name: 'fire', fields: [] },
    [`${hull}/perils/fire.premium.liquid`]: minimal[`${hull}/perils/sinking.premium.liquid`],
    [`${hull}/perils/sinking.json`]: undefined,
    [`${hull}/perils/sinking.premium.liquid`]: undefined,
  }
  expect(changesBy(other)).toEqual([
    `${hull}/perils/sinking.json perilRemoved The peril 'sinking' is missing.`,
  ])
  const schedules = [{ type: 'total', name: 'total', displayName: 'At once' }]
  expect(
    changesBy({
      [`${policy}/policy.json`]: { ...rich[`${policy}/policy.json`], paymentSchedules: schedules },
    }),
  ).toEqual([`${policy}/policy.json paymentScheduleRemoved The payment schedule 'monthly' is missing.`])
  const without = (change: (product: Configuration['products'][string]) => object): string[] => {
    const after = {
      ...before,
      products: { boat: { ...before.products.boat!, ...change(before.products.boat!) } },
    }
    return incompatibleChanges(before, after).map(({ code }) => code)
  }
  expect(without(() => ({ exposures: [] }))).toEqual(['exposureRemoved'])
  expect(incompatibleChanges(before, { ...before, products: {} })).toEqual([
    {
      product: 'boat',
      path: 'products/boat',
      code: 'productRemoved',
      message: "The product 'boat' is missing.",
    },
  ])
})

test('a changed currency or time zone is reported once for the tenant, not for each product', () => {
  const two: Configuration = { ...before, products: { ...before.products, car: before.products.boat! } }
  const after = { ...two, ...compiled({ 'config.json': { timezone: 'UTC', currency: 'USD' } }) }
  expect(incompatibleChanges(two, { ...after, products: two.products })).toEqual([
    {
      product: undefined,
      path: 'config.json',
      code: 'currencyChanged',
      message: 'The currency was EUR and is now USD.',
    },
    {
      product: undefined,
      path: 'config.json',
      code: 'timeZoneChanged',
      message: 'The time zone was Europe/Berlin and is now UTC.',
    },
  ])
})
