// The effects of a changed configuration on existing policies, whose data is stored and read by the names of fields, exposures
// and perils (resources brief 10.5).
import type {
  Configuration,
  FieldDefinition,
  PerilDefinition,
  ProductDefinition,
} from '../../../product/configuration.ts'

/** Each code with its meaning for existing policies. */
const changeCodes = {
  productRemoved: 'Existing policies of the product could not be read any more.',
  exposureRemoved: 'Existing exposures with that name could not be read any more.',
  perilRemoved: 'Existing perils with that name could not be read any more.',
  fieldRemoved: 'Existing values of the field would be unknown.',
  fieldTypeChanged: 'Existing values of the field may not fit its new type.',
  fieldNotRepeatable: 'Existing policies may have several values of the field, and now only one is allowed.',
  paymentScheduleRemoved: 'Existing policies are billed by a schedule that no longer exists.',
  currencyChanged: 'Amounts of existing policies are in another currency.',
  timeZoneChanged: 'Days and months of existing policies begin at other times.',
} as const

/**
 * A change that existing policies of the product cannot follow. `product` is undefined for a change that affects all products.
 * `path` is the file of the archive to look at.
 */
export type IncompatibleChange = {
  product: string | undefined
  path: string
  code: keyof typeof changeCodes
  message: string
}

type Change = Omit<IncompatibleChange, 'product'>

const change = (path: string, code: Change['code'], message: string): Change => ({ path, code, message })

/** The tenant's changes come first, then those of products in the order of `before`. */
export function incompatibleChanges(before: Configuration, after: Configuration): IncompatibleChange[] {
  const ofProducts = Object.values(before.products).flatMap(product => {
    const { name } = product
    const changed = Object.hasOwn(after.products, name) ? after.products[name] : undefined
    const found = changed
      ? productChanges(product, changed)
      : [change(`products/${name}`, 'productRemoved', `The product '${name}' is missing.`)]
    return found.map(one => ({ product: name, ...one }))
  })
  return [...settingChanges(before, after).map(one => ({ product: undefined, ...one })), ...ofProducts]
}

function settingChanges(before: Configuration, after: Configuration): Change[] {
  const changed = (what: string, code: Change['code'], was: string, is: string): Change[] =>
    was === is ? [] : [change('config.json', code, `The ${what} was ${was} and is now ${is}.`)]
  return [
    ...changed('currency', 'currencyChanged', before.currency, after.currency),
    ...changed('time zone', 'timeZoneChanged', before.timeZone, after.timeZone),
  ]
}

function productChanges(before: ProductDefinition, after: ProductDefinition): Change[] {
  const folder = `products/${before.name}/policy`
  const file = `${folder}/policy.json`
  const schedules = new Set(after.paymentSchedules.map(({ name }) => name))
  const missing = before.paymentSchedules.filter(({ name }) => !schedules.has(name))
  return [
    ...fieldChanges(before.fields, after.fields, file),
    ...missing.map(({ name }) =>
      change(file, 'paymentScheduleRemoved', `The payment schedule '${name}' is missing.`),
    ),
    ...before.exposures.flatMap(exposure => {
      const path = `${folder}/exposures/${exposure.name}`
      const now = after.exposures.find(({ name }) => name === exposure.name)
      if (!now) return [change(path, 'exposureRemoved', `The exposure '${exposure.name}' is missing.`)]
      return [
        ...fieldChanges(exposure.fields, now.fields, `${path}/exposure.json`),
        ...exposure.perils.flatMap(peril => perilChanges(peril, now.perils, `${path}/perils`)),
      ]
    }),
  ]
}

function perilChanges(before: PerilDefinition, after: readonly PerilDefinition[], folder: string): Change[] {
  const path = `${folder}/${before.name}.json`
  const now = after.find(({ name }) => name === before.name)
  return now
    ? fieldChanges(before.fields, now.fields, path)
    : [change(path, 'perilRemoved', `The peril '${before.name}' is missing.`)]
}

function fieldChanges(
  before: readonly FieldDefinition[],
  after: readonly FieldDefinition[],
  path: string,
): Change[] {
  return before.flatMap((field): Change[] => {
    const { name, type } = field
    const now = after.find(other => other.name === name)
    if (!now) return [change(path, 'fieldRemoved', `The field '${name}' is missing.`)]
    if (now.type !== type)
      return [
        change(path, 'fieldTypeChanged', `The field '${name}' was of type ${type} and is now ${now.type}.`),
      ]
    return [
      ...(field.repeatable && !now.repeatable
        ? [change(path, 'fieldNotRepeatable', `The field '${name}' was repeatable.`)]
        : []),
      ...fieldChanges(field.fields ?? [], now.fields ?? [], path),
    ]
  })
}
