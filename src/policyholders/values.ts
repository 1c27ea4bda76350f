import { tooLarge } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import type { SearchTerm } from '../platform/search.ts'
import type { Configuration, FieldDefinition } from '../product/configuration.ts'
import { validateFields } from '../product/fields/validate.ts'
import type { FieldError, FieldErrorCode, FieldValues } from '../product/fields/values.ts'
import {
  fieldErrors,
  LARGEST_FIELD_COUNT,
  mergeFieldValues,
  normaliseFieldValues,
  readFieldValues,
  shortenForMessage,
  termsOf,
  valuesOf,
} from '../product/fields/values.ts'
import type { EntityResponse, PolicyholderResponse } from './contract.ts'

/** A problem of a value (brief 8). `ontologyUri` is the name of the dictionary entry, `validatorUri` the broken rule. */
export type ValidationFieldError = {
  code: number
  ontologyUri: string
  validatorUri: string
  message: string
}

/** Stable, because clients match on both. MISSING is reserved, although required fields bind only screens (brief 7). */
export const VALIDATORS: Record<FieldErrorCode, { code: number; validatorUri: string }> = {
  MISSING: { code: 1, validatorUri: 'validator.required' },
  INVALID_FIELD: { code: 2, validatorUri: 'validator.known' },
  INVALID_TYPE: { code: 3, validatorUri: 'validator.type' },
  INVALID_VALUE: { code: 4, validatorUri: 'validator.value' },
}

export type PolicyholderValuesContext = {
  /** After the change. False means a draft, whose values only need the right type. */
  completed: boolean
  /** Before the change. Stored values of a completed entity do not block a request that leaves them unchanged. */
  wasCompleted?: boolean
  /**
   * For a sub-entity. The dictionary has only fields of policyholders. Fields that the sub-entity shares with them are checked; its
   * other fields accept any value.
   */
  subEntity?: boolean
  timeZone: TimeZone
  now: Instant
}

/**
 * Returns the values after a create (`current` is empty) or update, and every problem. Store the values only if there are none.
 * Checks only what the request sends, or everything if it completes a draft, so that neither a stricter configuration nor
 * overwritten data blocks other changes. A configuration without policyholder fields accepts any name. `wire` is the request's
 * `values`.
 */
export function changePolicyholderValues(
  definitions: readonly FieldDefinition[],
  current: FieldValues,
  wire: unknown,
  { completed, wasCompleted = false, subEntity = false, timeZone, now }: PolicyholderValuesContext,
): { values: FieldValues; errors: ValidationFieldError[] } {
  const read = readFieldValues(wire)
  const values = mergeFieldValues(current, read.values)
  const rules = definitions.map(one => (subEntity ? { ...one, conditions: [] } : one))
  const found = validateFields(rules, values, [], {
    timeZone,
    now,
    requireMissing: false,
    // A policyholder's dictionary has no groups, lookups or media (brief 6.7).
    table: () => undefined,
    reported: fieldErrors(read.problems),
  })
  const named = !subEntity && definitions.length > 0
  const sent = new Set(Object.keys(read.values).map(shortenForMessage))
  const isBindingError = ({ code, fieldName }: FieldError): boolean => {
    if (code === 'INVALID_FIELD') return named && sent.has(fieldName)
    if (code === 'INVALID_VALUE' && !completed) return false
    return sent.has(fieldName) || (completed && !wasCompleted)
  }
  const own = found.errors.filter(error => !read.problems.includes(error))
  const problems = [...read.problems, ...own.filter(isBindingError)]
  if (!named && Object.keys(values).length > LARGEST_FIELD_COUNT)
    problems.push({
      fieldName: 'values',
      code: 'INVALID_VALUE',
      message: `There can be at most ${LARGEST_FIELD_COUNT} values; remove some by sending null.`,
    })
  return {
    values: normaliseFieldValues(rules, values, timeZone),
    errors: problems.map(validationFieldError),
  }
}

export const validationFieldError = ({ fieldName, code, message }: FieldError): ValidationFieldError => ({
  ...VALIDATORS[code],
  ontologyUri: fieldName,
  message,
})

/** Maximum per policyholder. Each term is a row of the index. */
export const MOST_SEARCH_TERMS = 1_000

/** Returns the names of the fields by which policyholders can be found. */
export const searchableNames = ({ fields }: Dictionary): string[] =>
  fields.filter(field => field.searchable).map(field => field.name)

/** Returns the terms of a policyholder's own values in searchable fields, each once. Throws 413 if there are more than 1,000. */
export function searchTerms({ fields, timeZone }: Dictionary, values: FieldValues): SearchTerm[] {
  const found = fields
    .filter(field => field.searchable)
    .flatMap(field => termsOf(field, valuesOf(values, field.name), timeZone))
  if (found.length > MOST_SEARCH_TERMS)
    throw tooLarge(
      `A policyholder can have at most ${MOST_SEARCH_TERMS} values in searchable fields; this request has ${found.length}.`,
    )
  return found
}

/** Returns the policyholder with its sub-entities, in the order added. */
export function policyholderResponse(policyholder: Policyholder): PolicyholderResponse {
  const { locator, version, completed, entity } = policyholder
  const times = timestamps(policyholder)
  return {
    locator,
    version,
    ...times,
    entity: {
      locator: entity.locator,
      ...sharedMembers(policyholder, completed),
      ...times,
      values: entity.values,
      subEntitiesByLocator: Object.fromEntries(
        entity.subEntities.map(one => [one.locator, subEntityResponse(one, policyholder)]),
      ),
    },
  }
}

const subEntityResponse = (subEntity: SubEntity, policyholder: Policyholder): EntityResponse => ({
  locator: subEntity.locator,
  ontologyUri: subEntity.ontologyUri,
  ...sharedMembers(policyholder, subEntity.completed),
  ...timestamps(subEntity),
  values: subEntity.values,
})

const timestamps = ({ createdAt, updatedAt }: Pick<SubEntity, 'createdAt' | 'updatedAt'>) => ({
  createdTimestamp: String(createdAt),
  updatedTimestamp: String(updatedAt),
})

const sharedMembers = (
  { accountLocator, version }: Policyholder,
  completed: boolean,
): Pick<EntityResponse, 'accountLocator' | 'completed' | 'flags' | 'revision'> => ({
  accountLocator,
  completed,
  flags: [completed ? 'flag.entity.workflow.complete' : 'flag.entity.workflow.started'],
  revision: String(version),
})

/** A part of a policyholder, such as a contact. `ontologyUri` names its entry in the dictionary. */
export type SubEntity = {
  readonly locator: Uuid
  readonly ontologyUri: string
  readonly completed: boolean
  readonly values: FieldValues
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export type Entity = {
  readonly locator: Uuid
  readonly values: FieldValues
  readonly subEntities: readonly SubEntity[]
}

export type Policyholder = {
  readonly locator: Uuid
  /** Starts at 1; each update adds 1. */
  readonly version: number
  readonly completed: boolean
  /** The account that created it. */
  readonly accountLocator: Uuid
  readonly entity: Entity
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** The policyholder fields, zone and declared tables of the newest configuration. */
export type Dictionary = Pick<Configuration, 'resources'> & {
  readonly fields: readonly FieldDefinition[]
  readonly timeZone: TimeZone
}

/** For a tenant without a configuration. Fields accept any value. */
export const NO_DICTIONARY: Dictionary = { fields: [], timeZone: 'UTC' as TimeZone }
