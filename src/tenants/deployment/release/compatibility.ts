// How a changed configuration affects existing policies: their data is stored and read by the names of fields, exposures and
// perils (resources brief 10.5).
import type {
  Configuration,
  FieldDefinition,
  PerilDefinition,
  ProductDefinition,
} from '../../../product/configuration.ts'

/** Codes of incompatible changes, each with its meaning for existing policies. */
export const changeCodes = {
  productRemoved: 'Policies of the product cannot be read any more.',
  exposureRemoved: 'Exposures of that name cannot be read any more.',
  perilRemoved: 'Perils of that name cannot be read any more.',
  fieldRemoved: 'Values of the field are known to nobody any more.',
  fieldTypeChanged: 'Values of the field may be none of its new type.',
  fieldNotRepeatable: 'The field may have several values, and only one is allowed now.',
  paymentScheduleRemoved: 'Policies are billed by a schedule that is no more.',
  currencyChanged: 'Amounts of policies are in another currency.',
  timeZoneChanged: 'Days and months of policies begin at other moments.',
} as const

/**
 * A change that existing policies of the product cannot follow (of any product, when undefined). `path` is the file of the
 * archive to look at.
 */
export type IncompatibleChange = {
  product: string | undefined
  path: string
  code: keyof typeof changeCodes
  message: string
}

/** The changes of the tenant, then of its products, in the order of the former configuration. */
export function incompatibleChanges(before: Configuration, after: Configuration): IncompatibleChange[] {
  const ofProducts = Object.values(before.products).flatMap(product => {
    const { name } = product
    const changed = after.products[name]
    const found: Change[] = []
    if (changed && Object.hasOwn(after.products, name)) found.push(...productChanges(product, changed))
    else
      found.push({
        path: `products/${name}`,
        code: 'productRemoved',
        message: `The product '${name}' is missing.`,
      })
    return found.map(change => ({ product: name, ...change }))
  })
  return [...settingChanges(before, after).map(change => ({ product: undefined, ...change })), ...ofProducts]
}

type Change = Omit<IncompatibleChange, 'product'>

function settingChanges(before: Configuration, after: Configuration): Change[] {
  const changes: Change[] = []
  const path = 'config.json'
  if (before.currency !== after.currency)
    changes.push({
      path,
      code: 'currencyChanged',
      message: `The currency was ${before.currency} and is ${after.currency} now.`,
    })
  if (before.timeZone !== after.timeZone)
    changes.push({
      path,
      code: 'timeZoneChanged',
      message: `The time zone was ${before.timeZone} and is ${after.timeZone} now.`,
    })
  return changes
}

function productChanges(before: ProductDefinition, after: ProductDefinition): Change[] {
  const folder = `products/${before.name}/policy`
  const schedules = new Set(after.paymentSchedules.map(({ name }) => name))
  return [
    ...fieldChanges(before.fields, after.fields, `${folder}/policy.json`),
    ...before.paymentSchedules
      .filter(({ name }) => !schedules.has(name))
      .map(
        ({ name }): Change => ({
          path: `${folder}/policy.json`,
          code: 'paymentScheduleRemoved',
          message: `The payment schedule '${name}' is missing.`,
        }),
      ),
    ...before.exposures.flatMap(exposure => {
      const path = `${folder}/exposures/${exposure.name}`
      const now = after.exposures.find(({ name }) => name === exposure.name)
      if (!now)
        return [
          {
            path,
            code: 'exposureRemoved',
            message: `The exposure '${exposure.name}' is missing.`,
          } satisfies Change,
        ]
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
    : [{ path, code: 'perilRemoved', message: `The peril '${before.name}' is missing.` }]
}

function fieldChanges(
  before: readonly FieldDefinition[],
  after: readonly FieldDefinition[],
  path: string,
): Change[] {
  return before.flatMap((field): Change[] => {
    const { name } = field
    const now = after.find(other => other.name === name)
    if (!now) return [{ path, code: 'fieldRemoved', message: `The field '${name}' is missing.` }]
    if (now.type !== field.type)
      return [
        {
          path,
          code: 'fieldTypeChanged',
          message: `The field '${name}' was of type ${field.type} and is ${now.type} now.`,
        },
      ]
    const single: Change[] =
      field.repeatable && !now.repeatable
        ? [{ path, code: 'fieldNotRepeatable', message: `The field '${name}' was repeatable.` }]
        : []
    return [...single, ...fieldChanges(field.fields ?? [], now.fields ?? [], path)]
  })
}
