// Finds what another version of the configuration rejects in a policy (brief 5.1): fields, types, bounds, names, constraint
// tables and settings. Checks all content in force in any part of the term, and cancelled parts, since they can come back. Skips
// what the present version rejects too, such as a date that is no longer recent.
import { containsTime, type Instant } from '../../kernel/time.ts'
import type { ReportedProblems } from '../../policy/draft/draft.ts'
import {
  type ContentToCheck,
  type ExposureValidationErrors,
  type PerilValidationErrors,
  type PolicyValidation,
  type PolicyValidationErrors,
  validateContent,
} from '../../policy/draft/validation.ts'
import { lineOf, lineUpTo, segmentsInForce } from '../../policy/fold/line.ts'
import { recordFilter } from '../../policy/list/store.ts'
import { type PolicyAggregate, type Quote, quoteParts, recordsWhere } from '../../policy/records/aggregate.ts'
import { basisAt, selectionBasis } from '../../policy/selection-basis.ts'
import type { Loaded, Version } from '../../policy/surroundings.ts'
import type { Configuration, FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import { graphOfProduct } from '../../product/constraint-graph.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import {
  type FieldError,
  type FieldErrors,
  fieldError,
  fieldErrors,
  joinFieldErrors,
  valuesOf,
} from '../../product/fields/values.ts'
import { type Attempt, NOTHING_REPORTED } from '../../rating/rate.ts'
import { fieldsInUse } from '../../reference/constraints/answers.ts'
import { LAPSE } from '../cancellations/decision.ts'
import { elementsAt, withBreaches } from '../constraints/validation.ts'

export const NO_PROBLEMS: PolicyValidationErrors = {
  hasErrors: false,
  exposureValidationErrors: [],
  cancellationValidationErrors: [],
}

/** Returns all problems together, and the policy's product in that version, if there is one. */
export function upgradeProblems(
  aggregate: PolicyAggregate,
  { product: before, configuration: former }: Pick<Loaded, 'product' | 'configuration'>,
  { configuration: { configuration }, configVersion }: Version,
  now: Instant,
  constraints: ConstraintProblems = NO_CONSTRAINTS,
): { problems: PolicyValidationErrors; product?: ProductDefinition } {
  const own = Object.hasOwn(configuration.products, before.name)
  const product = own ? configuration.products[before.name]! : undefined
  const settings = settingProblems(aggregate, product, configuration, configVersion)
  if (!product)
    return { problems: { ...NO_PROBLEMS, hasErrors: true, policyFieldErrors: fieldErrors(settings) } }
  const isIssued = aggregate.policy.issuedAt !== undefined
  const { timeZone } = aggregate.policy
  const found = (
    of: Pick<PolicyValidation, 'product' | 'configuration'>,
    reported: (checked: ContentToCheck) => ReportedProblems,
  ) =>
    mergeValidationErrors(
      checkedParts(aggregate).map(checked =>
        validateContent(
          aggregate,
          checked,
          { ...of, timeZone, now, requireMissing: isIssued },
          reported(checked),
        ),
      ),
    )
  const content = withoutKnown(
    found({ product, configuration }, checked =>
      joinReports(typeChangeProblems(aggregate, checked, before, product, configVersion), constraints.found),
    ),
    found({ product: before, configuration: former.configuration }, () => constraints.known),
  )
  const policyFieldErrors = fieldErrors(
    [...settings, ...(content.policyFieldErrors?.errors ?? [])],
    content.policyFieldErrors?.fieldGroupErrors,
  )
  const cancellationValidationErrors = cancellationProblems(aggregate, product, configVersion)
  return {
    product,
    problems: {
      ...content,
      ...(policyFieldErrors.hasErrors && { policyFieldErrors }),
      cancellationValidationErrors,
      hasErrors: policyFieldErrors.hasErrors || content.hasErrors || cancellationValidationErrors.length > 0,
    },
  }
}

function joinReports(one: ReportedProblems, other: ReportedProblems): ReportedProblems {
  const byOwner = new Map(one.byOwner)
  for (const [owner, errors] of other.byOwner)
    byOwner.set(owner, joinFieldErrors(byOwner.get(owner) ?? fieldErrors([]), errors))
  return { ...one, byOwner }
}

/** Returns the content in force of an issued policy, and otherwise all its quotes, which are drafts. */
function checkedParts(aggregate: PolicyAggregate): ContentToCheck[] {
  if (aggregate.policy.issuedAt === undefined)
    return openQuotes(aggregate.quotes).map(quote => {
      const { segment, exposureRuns, perilRuns } = quoteParts(aggregate, quote)
      return { owner: segment.locator, policy: [segment.data], exposureRuns, perilRuns }
    })
  const isIncluded = recordFilter(aggregate)
  return [
    {
      owner: String(aggregate.policy.locator),
      policy: recordsWhere(aggregate.segments, isIncluded).map(one => one.data),
      exposureRuns: recordsWhere(aggregate.exposureRuns, isIncluded),
      perilRuns: recordsWhere(aggregate.perilRuns, isIncluded),
    },
  ]
}

function mergeValidationErrors(all: readonly PolicyValidationErrors[]): PolicyValidationErrors {
  const policy = all.flatMap(one => one.policyFieldErrors ?? [])
  const policyFieldErrors = fieldErrors(
    policy.flatMap(one => one.errors),
    policy.flatMap(one => one.fieldGroupErrors),
  )
  return {
    hasErrors: all.some(one => one.hasErrors),
    ...(policyFieldErrors.hasErrors && { policyFieldErrors }),
    exposureValidationErrors: all.flatMap(one => one.exposureValidationErrors),
    cancellationValidationErrors: [],
  }
}

/** Reports values whose stored text hides a changed type: days are stored as milliseconds, groups as locators. */
function typeChangeProblems(
  { exposures, perils }: PolicyAggregate,
  { owner, policy, exposureRuns, perilRuns }: ContentToCheck,
  before: ProductDefinition,
  after: ProductDefinition,
  configVersion: number,
): ReportedProblems {
  const byOwner = new Map<string, FieldErrors>()
  const report = (
    locator: string,
    data: FieldData,
    was: readonly FieldDefinition[] = [],
    is: readonly FieldDefinition[] = [],
  ): void => {
    const errors = retypedFields(data, was, is, configVersion)
    if (errors.hasErrors) byOwner.set(locator, errors)
  }
  for (const data of policy) report(owner, data, before.fields, after.fields)
  const exposureIn = (product: ProductDefinition, name: string | undefined) =>
    product.exposures.find(one => one.name === name)
  for (const run of exposureRuns) {
    const { locator, name } = exposures.get(run.exposureLocator)!
    report(locator, run.data, exposureIn(before, name)?.fields, exposureIn(after, name)?.fields)
  }
  for (const run of perilRuns) {
    const { locator, name, exposureLocator } = perils.get(run.perilLocator)!
    const fieldsIn = (product: ProductDefinition) =>
      exposureIn(product, exposures.get(exposureLocator)?.name)?.perils.find(one => one.name === name)?.fields
    report(locator, run.data, fieldsIn(before), fieldsIn(after))
  }
  return { ...NOTHING_REPORTED, byOwner }
}

const SPECIALLY_STORED_TYPES: ReadonlySet<FieldDefinition['type']> = new Set(['date', 'group'])

function retypedFields(
  { values, groups }: FieldData,
  before: readonly FieldDefinition[],
  after: readonly FieldDefinition[],
  configVersion: number,
): FieldErrors {
  const changed = (
    was: readonly FieldDefinition[],
    is: readonly FieldDefinition[],
    of: FieldData['values'],
  ) =>
    was.flatMap(({ name, type }): FieldError[] => {
      const now = is.find(one => one.name === name)
      if (!now || now.type === type || valuesOf(of, name).length === 0) return []
      if (!SPECIALLY_STORED_TYPES.has(type) && !SPECIALLY_STORED_TYPES.has(now.type)) return []
      const rule = `has type ${type} but would have type ${now.type} in version ${configVersion}; its value cannot be converted`
      return [fieldError(name, 'INVALID_TYPE', rule)]
    })
  const fieldsOf = (list: readonly FieldDefinition[], name: string) =>
    list.find(one => one.name === name)?.fields ?? []
  return fieldErrors(
    changed(before, after, values),
    groups.flatMap(({ fieldName, locator, values: inner }) => {
      const errors = changed(fieldsOf(before, fieldName), fieldsOf(after, fieldName), inner)
      const index = valuesOf(values, fieldName).indexOf(locator)
      return errors.length === 0 ? [] : [{ fieldName, errors, locator, index }]
    }),
  )
}

function settingProblems(
  { policy, quotes }: PolicyAggregate,
  product: ProductDefinition | undefined,
  { currency, timeZone }: Configuration,
  configVersion: number,
): FieldError[] {
  const problem = (fieldName: string, message: string): FieldError => ({
    fieldName,
    code: 'INVALID_VALUE',
    message,
  })
  if (!product)
    return [problem('productName', `Version ${configVersion} has no product '${policy.productName}'.`)]
  const open = policy.issuedAt === undefined ? openQuotes(quotes) : []
  const schedules = new Set([policy.paymentScheduleName, ...open.map(quote => quote.paymentScheduleName)])
  const missing = [...schedules].filter(name => !product.paymentSchedules.some(one => one.name === name))
  return [
    policy.currency !== currency &&
      problem(
        'currency',
        `The policy is in ${policy.currency}, but version ${configVersion} is in ${currency}.`,
      ),
    policy.timeZone !== timeZone &&
      problem(
        'timezone',
        `The policy counts days and months in ${policy.timeZone}, but version ${configVersion} uses ${timeZone}.`,
      ),
    ...missing.map(name =>
      problem('paymentScheduleName', `Version ${configVersion} has no payment schedule '${name}'.`),
    ),
  ].filter(found => found !== false)
}

const openQuotes = (quotes: PolicyAggregate['quotes']): Quote[] =>
  recordsWhere(quotes, quote => quote.state !== 'discarded')

const cancellationProblems = (
  { cancellations }: PolicyAggregate,
  { cancellationTypes = [] }: ProductDefinition,
  configVersion: number,
): PolicyValidationErrors['cancellationValidationErrors'] =>
  recordsWhere(
    cancellations,
    ({ state, name }) =>
      state === 'draft' && name !== LAPSE && !cancellationTypes.some(one => one.name === name),
  ).map(({ name, locator }) => ({
    name,
    code: 'INVALID_VALUE',
    message: `Version ${configVersion} has no cancellation '${name}'; rescind ${locator}, or give it a different name.`,
  }))

/** Returns the new problems, each once, even if several segments have it. */
function withoutKnown(found: PolicyValidationErrors, known: PolicyValidationErrors): PolicyValidationErrors {
  const seen = new Set<string>()
  const isNew = (...problem: string[]): boolean => {
    const key = JSON.stringify(problem)
    return !seen.has(key) && seen.add(key) !== undefined
  }
  filterPolicyErrors(known, isNew)
  return filterPolicyErrors(found, isNew)
}

type KeepsProblem = (...problem: string[]) => boolean

function filterPolicyErrors(errors: PolicyValidationErrors, keeps: KeepsProblem): PolicyValidationErrors {
  const policyFieldErrors = filterFieldErrors(errors.policyFieldErrors, 'policy', keeps)
  const exposureValidationErrors = errors.exposureValidationErrors.flatMap(one =>
    filterExposureErrors(one, keeps),
  )
  return {
    hasErrors: policyFieldErrors !== undefined || exposureValidationErrors.length > 0,
    ...(policyFieldErrors && { policyFieldErrors }),
    exposureValidationErrors,
    cancellationValidationErrors: [],
  }
}

function filterExposureErrors(
  errors: ExposureValidationErrors,
  keeps: KeepsProblem,
): ExposureValidationErrors[] {
  const { exposureLocator = '', message, exposureFieldErrors, perilValidationErrors, ...rest } = errors
  const left: ExposureValidationErrors = {
    ...rest,
    exposureLocator,
    ...(message !== undefined && keeps(exposureLocator, message) && { message }),
    exposureFieldErrors: filterFieldErrors(exposureFieldErrors, exposureLocator, keeps),
    perilValidationErrors: perilValidationErrors.flatMap(one =>
      filterPerilErrors(one, exposureLocator, keeps),
    ),
  }
  const isClean = !left.message && !left.exposureFieldErrors && left.perilValidationErrors.length === 0
  return isClean ? [] : [left]
}

function filterPerilErrors(
  errors: PerilValidationErrors,
  exposure: string,
  keeps: KeepsProblem,
): PerilValidationErrors[] {
  const { name, message } = errors
  const fields = filterFieldErrors(errors.fieldErrors, `${exposure}/${name}`, keeps)
  const kept = message !== undefined && keeps(exposure, name, message)
  if (!fields && !kept) return []
  return [{ name, hasErrors: true, ...(kept && { message }), ...(fields && { fieldErrors: fields }) }]
}

function filterFieldErrors(
  errors: FieldErrors | undefined,
  place: string,
  keeps: KeepsProblem,
): FieldErrors | undefined {
  if (!errors) return undefined
  const left = fieldErrors(
    errors.errors.filter(one => keeps(place, one.fieldName, one.code)),
    errors.fieldGroupErrors.flatMap(group => {
      const inside = group.errors.filter(one => keeps(place, group.locator, one.fieldName, one.code))
      return inside.length === 0 ? [] : [{ ...group, errors: inside }]
    }),
  )
  return left.hasErrors ? left : undefined
}

export type ConstraintProblems = { readonly found: ReportedProblems; readonly known: ReportedProblems }

const NO_CONSTRAINTS: ConstraintProblems = { found: NOTHING_REPORTED, known: NOTHING_REPORTED }

/** Takes one round trip and reads the files of the tables, or does neither if the product has no constraints. */
export async function constraintProblems(
  loaded: Loaded,
  target: Version,
  attempt: Attempt,
): Promise<ConstraintProblems> {
  const { products } = target.configuration.configuration
  const { name } = loaded.product
  const product = Object.hasOwn(products, name) ? products[name] : undefined
  if (!product) return NO_CONSTRAINTS
  const found = await constraintProblemsUnder(loaded, target, product, attempt)
  if (found.byOwner.size === 0) return NO_CONSTRAINTS
  return { found, known: await constraintProblemsUnder(loaded, loaded, loaded.product, attempt) }
}

async function constraintProblemsUnder(
  { aggregate, policyholder }: Pick<Loaded, 'aggregate' | 'policyholder'>,
  { configuration: { configuration } }: Pick<Version, 'configuration'>,
  product: ProductDefinition,
  { now, readTables }: Attempt,
): Promise<ReportedProblems> {
  if (!readTables || graphOfProduct(configuration, product).tables.length === 0) return NOTHING_REPORTED
  const { timeZone } = aggregate.policy
  const requireMissing = aggregate.policy.issuedAt !== undefined
  let reported = NOTHING_REPORTED
  for (const { owner, line, starts, basis } of partsOf(aggregate, product, now)) {
    const surroundings = { product, policyholder, configuration }
    const checked = starts.flatMap(at => fieldsInUse(elementsAt(aggregate, line, at, surroundings), timeZone))
    reported = await withBreaches(
      checked,
      { configuration, basis, readTables, requireMissing },
      reported,
      owner,
    )
  }
  return reported
}

function partsOf(aggregate: PolicyAggregate, product: ProductDefinition, now: Attempt['now']) {
  const of = { aggregate, product }
  const startsOf = (line: ReturnType<typeof lineOf>) => {
    const segments = segmentsInForce(line)
    const inForce = (at: number) => segments.some(one => containsTime(one, at))
    const runs = [...aggregate.exposureRuns.values(), ...aggregate.perilRuns.values()]
    return [...new Set([...segments, ...runs].map(one => one.start))].filter(inForce).sort((a, b) => a - b)
  }
  if (aggregate.policy.issuedAt === undefined)
    return openQuotes(aggregate.quotes).map(quote => {
      const { modification, segment } = quoteParts(aggregate, quote)
      const line = lineUpTo(aggregate, quote, modification)
      return {
        owner: segment.locator,
        line,
        starts: startsOf(line),
        basis: selectionBasis(of, modification, now),
      }
    })
  const line = lineOf(aggregate, [...aggregate.quotes.values()].find(one => one.issuedAt !== undefined)!)
  return [
    { owner: String(aggregate.policy.locator), line, starts: startsOf(line), basis: basisAt(of, now, now) },
  ]
}
