// Collects all problems of a draft together (brief 6 and 8: PolicyValidationErrors).
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import { type Configuration, type ProductDefinition, tableOf } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { validateFields } from '../../product/fields/validate.ts'
import { type FieldErrors, fieldErrors, joinFieldErrors } from '../../product/fields/values.ts'
import type { Exposure, ExposureRun, PerilRun, PolicyAggregate, Quote } from '../records/aggregate.ts'
import { quoteParts } from '../records/aggregate.ts'
import type { ReportedProblems } from './draft.ts'

export type PerilValidationErrors = {
  name: string
  hasErrors: boolean
  fieldErrors?: FieldErrors
  message?: string
}

export type ExposureValidationErrors = {
  exposureName: string
  exposureLocator?: string
  /** Place in the request's list, for a part that matches no exposure, or for an exposure that the request adds. */
  index?: number
  hasErrors: boolean
  message?: string
  exposureFieldErrors?: FieldErrors
  perilValidationErrors: PerilValidationErrors[]
}

export type PolicyValidationErrors = {
  hasErrors: boolean
  policyFieldErrors?: FieldErrors
  exposureValidationErrors: ExposureValidationErrors[]
  cancellationValidationErrors: { name: string; code: string; message?: string }[]
}

export type PolicyValidation = {
  product: ProductDefinition
  /** The configuration of the product's version. It also has the tables of other products. */
  configuration: Pick<Configuration, 'tables'>
  timeZone: TimeZone
  now: Instant
  /** True for finalize and quote: required fields must be present (brief 6.2). */
  requireMissing: boolean
}

/** The content to check: the policy's own data in each segment, and runs of exposures and perils. */
export type ContentToCheck = {
  /** The owner under which problems of the policy's own data are reported. */
  owner: string
  policy: readonly FieldData[]
  exposureRuns: readonly ExposureRun[]
  perilRuns: readonly PerilRun[]
}

/** Returns the problems of a quote, including those that were found while reading the request. */
export function validateQuote(
  aggregate: PolicyAggregate,
  quote: Quote,
  validation: PolicyValidation,
  reported: ReportedProblems,
): PolicyValidationErrors {
  const { segment, exposureRuns, perilRuns } = quoteParts(aggregate, quote)
  const checked = { owner: segment.locator, policy: [segment.data], exposureRuns, perilRuns }
  return validateContent(aggregate, checked, validation, reported)
}

/** Like `validateQuote`, for any part of a policy. */
export function validateContent(
  aggregate: PolicyAggregate,
  parts: ContentToCheck,
  { product, configuration, timeZone, now, requireMissing }: PolicyValidation,
  reported: ReportedProblems,
): PolicyValidationErrors {
  const check = (owner: string, fields: ProductDefinition['fields'], data: FieldData): FieldErrors =>
    validateFields(fields, data.values, data.groups, {
      timeZone,
      now,
      requireMissing,
      table: name => tableOf(configuration, product, name),
      reported: reported.byOwner.get(owner),
    })

  const entries = new Map<string, ExposureValidationErrors>()
  const errorsOf = (exposure: Exposure): ExposureValidationErrors => {
    const entry = entries.get(exposure.locator) ?? newEntry(exposure, reported)
    entries.set(exposure.locator, entry)
    return entry
  }
  const checking = { aggregate, product, check, errorsOf }
  for (const run of parts.exposureRuns) checkExposure(run, checking)
  for (const run of parts.perilRuns) checkPeril(run, checking)

  const strays: ExposureValidationErrors[] = []
  for (const stray of reported.strays) {
    const exposure = aggregate.exposures.get(stray.exposureLocator as Uuid)
    const isOfAdded = exposure !== undefined && reported.added.has(exposure.locator)
    if (isOfAdded) errorsOf(exposure).perilValidationErrors.push(...strayPerils(stray))
    else strays.push(strayErrors(stray))
  }
  const exposureValidationErrors = [...entries.values(), ...strays]
  const policyFieldErrors = parts.policy
    .map(data => check(parts.owner, product.fields, data))
    .reduce(joinFieldErrors, fieldErrors([]))
  return {
    hasErrors: policyFieldErrors.hasErrors || exposureValidationErrors.length > 0,
    ...(policyFieldErrors.hasErrors ? { policyFieldErrors } : {}),
    exposureValidationErrors,
    cancellationValidationErrors: [],
  }
}

type Checking = {
  readonly aggregate: PolicyAggregate
  readonly product: ProductDefinition
  readonly check: (owner: string, fields: ProductDefinition['fields'], data: FieldData) => FieldErrors
  /** Returns the exposure's entry in the answer. Adds one if there is none. */
  readonly errorsOf: (exposure: Exposure) => ExposureValidationErrors
}

/** Returns a new entry. It identifies an added exposure by its place in the list, because the client does not know its locator. */
function newEntry({ name, locator }: Exposure, { added }: ReportedProblems): ExposureValidationErrors {
  const index = added.get(locator)
  const place = index === undefined ? { exposureLocator: locator } : { index }
  return { exposureName: name, ...place, hasErrors: true, perilValidationErrors: [] }
}

function checkExposure(run: ExposureRun, { aggregate, product, check, errorsOf }: Checking): void {
  const exposure = aggregate.exposures.get(run.exposureLocator)
  if (!exposure) return
  const { locator, name } = exposure
  const definition = product.exposures.find(one => one.name === name)
  if (!definition) {
    errorsOf(exposure).message = `The configuration no longer has an exposure '${name}'; remove it.`
    return
  }
  const found = check(locator, definition.fields, run.data)
  if (!found.hasErrors) return
  const entry = errorsOf(exposure)
  entry.exposureFieldErrors = joinFieldErrors(entry.exposureFieldErrors ?? fieldErrors([]), found)
}

function checkPeril(run: PerilRun, { aggregate, product, check, errorsOf }: Checking): void {
  const peril = aggregate.perils.get(run.perilLocator)
  const exposure = peril && aggregate.exposures.get(peril.exposureLocator)
  if (!exposure) return
  const { locator, name } = peril
  const definition = product.exposures.find(one => one.name === exposure.name)
  const fields = definition?.perils.find(one => one.name === name)?.fields
  const found = fields && check(locator, fields, run.data)
  if (found && !found.hasErrors) return
  const message = `The configuration no longer has a peril '${name}' for '${exposure.name}'; remove it.`
  errorsOf(exposure).perilValidationErrors.push({
    name,
    hasErrors: true,
    ...(found ? { fieldErrors: found } : { message }),
  })
}

function strayErrors(stray: ReportedProblems['strays'][number]): ExposureValidationErrors {
  const { exposureName, exposureLocator, index, perilName, message } = stray
  return {
    exposureName,
    exposureLocator,
    index,
    hasErrors: true,
    ...(perilName === undefined ? { message } : {}),
    perilValidationErrors: strayPerils(stray),
  }
}

function strayPerils({ perilName, message }: ReportedProblems['strays'][number]): PerilValidationErrors[] {
  if (perilName === undefined) return []
  const found = fieldErrors([{ fieldName: 'name', code: 'INVALID_FIELD', message }])
  return [{ name: perilName, hasErrors: true, message, fieldErrors: found }]
}

/** Returns the first five messages as one text, for clients that show only the message. */
export function summary(errors: PolicyValidationErrors): string {
  const messages: string[] = []
  const fromFields = (found: FieldErrors | undefined, where: string): void => {
    for (const error of found?.errors ?? []) messages.push(`${where}${error.message}`)
    for (const group of found?.fieldGroupErrors ?? [])
      for (const error of group.errors)
        messages.push(`${where}${group.fieldName}[${group.index}]: ${error.message}`)
  }
  fromFields(errors.policyFieldErrors, '')
  for (const exposure of errors.exposureValidationErrors) {
    if (exposure.message) messages.push(exposure.message)
    const place = exposure.index === undefined ? '' : ` ${exposure.index} of the list`
    const where = `Exposure '${exposure.exposureName}'${place}: `
    fromFields(exposure.exposureFieldErrors, where)
    for (const peril of exposure.perilValidationErrors) {
      if (peril.message) messages.push(peril.message)
      else fromFields(peril.fieldErrors, `${where}peril '${peril.name}': `)
    }
  }
  const shown = messages.slice(0, 5).join(' ')
  return messages.length > 5 ? `${shown} And ${messages.length - 5} more.` : shown
}
