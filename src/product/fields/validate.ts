import { countText, isLongerThan } from '../../kernel/text.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import type { FieldDefinition, LookupTable } from '../configuration.ts'
import type { FieldGroup } from './groups.ts'
import { type CheckContext, readDate, valueCheck } from './value-checks.ts'
import {
  ALL_VALUES,
  type FieldError,
  type FieldErrors,
  type FieldGroupError,
  type FieldValues,
  fieldError,
  fieldErrors,
  joinFieldErrors,
  LARGEST_VALUE_LENGTH,
  plainDecimal,
  shortenForMessage,
  TOO_LONG,
  valuesOf,
} from './values.ts'

/** The limit of instructions × characters for all patterns of one owner. */
const PATTERN_STEPS = 50_000_000

/** The most invalid values of a field that are reported. */
const SHOWN_BREACHES = 10

export type ValidationContext = {
  timeZone: TimeZone
  now: Instant
  /** False for drafts; true when finalizing and quoting (brief 6.2). */
  requireMissing: boolean
  table(name: string): LookupTable | undefined
  /** Problems found while parsing the request. The result includes them, and their fields are not reported again. */
  reported?: FieldErrors
}

/**
 * Checks the values and groups of one owner against its definitions (brief 6). For updates, pass the merged data. A stored value
 * whose condition no longer holds is reported too: only the caller knows whether to remove the value or to keep the condition.
 */
export function validateFields(
  definitions: FieldDefinition[],
  values: FieldValues,
  groups: FieldGroup[],
  context: ValidationContext,
): FieldErrors {
  const byLocator = new Map(groups.map(group => [group.locator, group]))
  const reported = context.reported ?? fieldErrors([])
  const checks: CheckContext = {
    timeZone: context.timeZone,
    now: context.now,
    table: name => context.table(name),
    hasGroup: (fieldName, locator) => byLocator.get(locator)?.fieldName === fieldName,
    patternBudget: { steps: PATTERN_STEPS },
  }
  const check = { checks, requireMissing: context.requireMissing }
  const owner = scope(definitions, values, check)
  const misplaced = misplacedGroups(groups, owner)
  const errors = [...misplaced, ...checkScope(owner, namesOf([...reported.errors, ...misplaced]))]

  const groupErrors: FieldGroupError[] = []
  for (const definition of definitions) {
    if (definition.type !== 'group' || !owner.fields.applies(definition)) continue
    for (const [index, locator] of [...new Set(valuesOf(values, definition.name))].entries()) {
      const group = byLocator.get(locator)
      if (group?.fieldName !== definition.name) continue
      const earlier = reported.fieldGroupErrors.find(error => error.locator === locator)
      const inside = scope(definition.fields ?? [], group.values, {
        checks: { ...checks, hasGroup: () => false },
        requireMissing: context.requireMissing,
        outer: owner.fields,
      })
      const found = checkScope(inside, namesOf(earlier?.errors ?? []))
      if (found.length > 0) groupErrors.push({ fieldName: definition.name, errors: found, locator, index })
    }
  }
  return joinFieldErrors(reported, fieldErrors(errors, groupErrors))
}

/** The fields of an owner, or of one of its groups. */
type Scope = {
  definitions: Map<string, FieldDefinition>
  values: FieldValues
  fields: Applicability
  checks: CheckContext
  requireMissing: boolean
}

function scope(
  list: FieldDefinition[],
  values: FieldValues,
  { checks, requireMissing, outer }: { checks: CheckContext; requireMissing: boolean; outer?: Applicability },
): Scope {
  const definitions = new Map(list.map(definition => [definition.name, definition]))
  const fields = applicability(definitions, values, checks.timeZone, outer)
  return { definitions, values, fields, checks, requireMissing }
}

const namesOf = (errors: FieldError[]): Set<string> => new Set(errors.map(error => error.fieldName))

function checkScope(scope: Scope, alreadyReported: Set<string>): FieldError[] {
  // An unreadable value is not also reported as missing.
  const checked = alreadyReported.has(ALL_VALUES) ? { ...scope, requireMissing: false } : scope
  const isReported = (name: string): boolean => alreadyReported.has(shortenForMessage(name))
  const errors: FieldError[] = []
  for (const definition of scope.definitions.values())
    if (!isReported(definition.name)) errors.push(...checkField(definition, checked))
  for (const [name, values] of Object.entries(scope.values))
    if (values.length > 0 && !scope.definitions.has(name) && !isReported(name))
      errors.push(fieldError(name, 'INVALID_FIELD', 'is not known; remove it or check its spelling'))
  return errors
}

function checkField(definition: FieldDefinition, scope: Scope): FieldError[] {
  const { values, fields, checks, requireMissing } = scope
  const { name, type, optional } = definition
  const present = valuesOf(values, name)
  if (!fields.applies(definition)) {
    if (present.length === 0) return []
    const condition = conditionsInWords(definition.conditions)
    const rule = `can have a value only while ${condition}; send null to remove it`
    return [fieldError(name, 'INVALID_FIELD', rule)]
  }
  if (present.length === 0) {
    if (optional || !requireMissing) return []
    return [fieldError(name, 'MISSING', `is required; ${type === 'group' ? 'add a group' : 'send a value'}`)]
  }
  const tooMany = countRule(definition, present.length)
  if (tooMany) return [fieldError(name, 'INVALID_VALUE', tooMany)]
  if (type === 'group' && new Set(present).size < present.length)
    return [fieldError(name, 'INVALID_VALUE', 'lists a group twice; list each locator once')]
  return checkValues(definition, present, checks)
}

function checkValues(
  definition: FieldDefinition,
  present: readonly string[],
  checks: CheckContext,
): FieldError[] {
  const { name } = definition
  const check = valueCheck(definition, checks)
  const errors: FieldError[] = []
  for (const [index, value] of present.entries()) {
    const isTooLong = isLongerThan(value, LARGEST_VALUE_LENGTH)
    const breach = isTooLong ? { code: 'INVALID_VALUE' as const, rule: TOO_LONG } : check(value)
    if (!breach) continue
    const which = present.length > 1 && definition.type !== 'group' ? `(value ${index + 1}) ` : ''
    errors.push(fieldError(name, breach.code, which + breach.rule))
    if (errors.length === SHOWN_BREACHES) break
  }
  return errors
}

function countRule({ type, repeatable, maximumCount }: FieldDefinition, count: number): string | undefined {
  const what = type === 'group' ? 'group' : 'value'
  if (!repeatable && count > 1) return `accepts one ${what}, not ${count}; send one`
  if (type === 'group' && maximumCount !== undefined && count > maximumCount)
    return `accepts at most ${countText(maximumCount, 'group')}, not ${count}; remove some`
  return undefined
}

/** Reports groups that no value lists, at most one for each field. */
function misplacedGroups(groups: FieldGroup[], { definitions, values }: Scope): FieldError[] {
  const problems = new Map<string, FieldError>()
  for (const { fieldName, locator } of groups) {
    const type = definitions.get(fieldName)?.type ?? 'group'
    if (type !== 'group') {
      const rule = 'is not a group; send its value in the field values'
      problems.set(fieldName, fieldError(fieldName, 'INVALID_TYPE', rule))
    } else if (!valuesOf(values, fieldName).includes(locator)) {
      const rule = `does not list its group '${shortenForMessage(locator)}'; list it or remove it`
      problems.set(fieldName, fieldError(fieldName, 'INVALID_FIELD', rule))
    }
  }
  return [...problems.values()]
}

type Condition = FieldDefinition['conditions'][number]

/** Which fields apply, by their conditions (brief 5.2). */
export type Applicability = {
  /** Whether all conditions of the field hold. */
  applies(definition: FieldDefinition): boolean
  /** Whether the named field applies and has one of the values. */
  holds(condition: Condition): boolean
}

/** `outer` decides about fields that are not defined here: for a group, those of its owner. */
export function applicability(
  definitions: ReadonlyMap<string, FieldDefinition>,
  values: FieldValues,
  zone: TimeZone,
  outer?: Applicability,
): Applicability {
  const decided = new Map<string, boolean>()
  const applies = (definition: FieldDefinition): boolean => {
    const known = decided.get(definition.name)
    if (known !== undefined) return known
    // Ends circles: fields in a circle apply if the values of the others say so.
    decided.set(definition.name, true)
    const result = definition.conditions.every(holds)
    decided.set(definition.name, result)
    return result
  }
  const holds = (condition: Condition): boolean => {
    const definition = definitions.get(condition.field)
    if (!definition) return outer?.holds(condition) ?? false
    return (
      applies(definition) &&
      valuesOf(values, condition.field).some(value =>
        condition.values.some(expected => sameValue(definition, value, expected, zone)),
      )
    )
  }
  return { applies, holds }
}

/** Compares numbers and dates by value, so that a day equals its milliseconds. */
function sameValue(definition: FieldDefinition, value: string, expected: string, zone: TimeZone): boolean {
  if (value === expected) return true
  if (definition.type === 'number') {
    const [a, b] = [plainDecimal(value), plainDecimal(expected)]
    return a !== undefined && b !== undefined && a.eq(b)
  }
  if (definition.type === 'date') {
    const [a, b] = [readDate(value, zone), readDate(expected, zone)]
    return a !== undefined && a === b
  }
  return false
}

const SHOWN_VALUES = 10

/** Formats conditions, for example as `'cover' is 'full' or 'part' and 'age' is '18'`. */
function conditionsInWords(conditions: readonly Condition[]): string {
  return conditions
    .map(({ field, values }) => {
      const listed = values.slice(0, SHOWN_VALUES).map(value => `'${shortenForMessage(value)}'`)
      if (values.length > SHOWN_VALUES) listed.push('…')
      return `'${shortenForMessage(field)}' is ${listed.join(' or ')}`
    })
    .join(' and ')
}
