// What a request makes of a policyholder. Pure; every problem of the request is found before it is refused.
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import type { WireFieldValues } from '../platform/wire.ts'
import type { PolicyholderCreateRequest, PolicyholderUpdateRequest } from './contract.ts'
import type { Entity, Policyholder } from './policyholder.ts'
import {
  type ChangeContext,
  changedSubEntities,
  newReferences,
  type SubEntityChange,
} from './sub-entities.ts'
import { changePolicyholderValues, type ValidationFieldError } from './values.ts'

export const MOST_SUB_ENTITIES = 200

/** Bytes of the JSON of one policyholder's values and sub-entities. */
export const LARGEST_ENTITY_BYTES = 524_288

/** Problems that one answer lists; the rest is counted. */
const MOST_PROBLEMS = 100

export type PolicyholderIdentity = { readonly locator: Uuid; readonly accountLocator: Uuid }

/** The policyholder that the request creates. Refuses with 400 `policyholderValidation` or 413 `tooLarge`. */
export function newPolicyholder(
  { completed, values, subEntities }: PolicyholderCreateRequest,
  { locator, accountLocator }: PolicyholderIdentity,
  context: ChangeContext,
): Policyholder {
  const nothing = { completed: false, entity: { locator, values: {}, subEntities: [] } }
  const added = { at: 'subEntities', list: subEntities }
  return {
    locator,
    accountLocator,
    version: 1,
    completed,
    entity: changedEntity(nothing, { completed, values, added, updated: [], deleted: [] }, context),
    createdAt: context.now,
    updatedAt: context.now,
  }
}

/**
 * The policyholder's next version. Refuses with 409 `versionConflict` when the request was made from another
 * one, else as `newPolicyholder`; a locator of no sub-entity is a problem of the request.
 */
export function updatedPolicyholder(
  current: Policyholder,
  request: PolicyholderUpdateRequest,
  context: ChangeContext,
): Policyholder {
  if (request.version !== current.version)
    throw new Refusal(
      'versionConflict',
      `Policyholder '${current.locator}' is at version ${current.version}, not ${request.version}; read it again.`,
    )
  const { completed, values, addSubEntities, updateSubEntities, deleteSubEntities } = request
  const change: EntityChange = {
    completed,
    values,
    added: { at: 'addSubEntities', list: addSubEntities },
    updated: updateSubEntities,
    deleted: deleteSubEntities,
  }
  return {
    ...current,
    version: current.version + 1,
    completed,
    entity: changedEntity(current, change, context),
    updatedAt: context.now,
  }
}

type EntityChange = SubEntityChange & { completed: boolean; values: WireFieldValues }

function changedEntity(
  { completed: wasCompleted, entity }: Pick<Policyholder, 'completed' | 'entity'>,
  change: EntityChange,
  context: ChangeContext,
): Entity {
  assertNumberOfChanges(change)
  const references = newReferences(change.added, context.newLocator)
  const { timeZone, fields } = context.dictionary
  const own = changePolicyholderValues(fields, entity.values, references.resolve(change.values), {
    completed: change.completed,
    wasCompleted,
    timeZone,
    now: context.now,
  })
  const parts = changedSubEntities(entity.subEntities, change, references, context)
  const problems = [...references.errors, ...own.errors, ...parts.errors]
  if (problems.length > 0) throw invalid(problems)
  const after = { locator: entity.locator, values: own.values, subEntities: parts.subEntities }
  assertWithinLimits(after)
  return after
}

/** The refusal of values: the message has every problem, `fieldErrors` each by itself. */
export function invalid(problems: readonly ValidationFieldError[]): Refusal {
  const listed = problems.slice(0, MOST_PROBLEMS)
  const more = problems.length - listed.length
  const sentences = listed.map(({ message }) => message)
  if (more > 0) sentences.push(`There are ${more} more.`)
  return new Refusal('policyholderValidation', sentences.join(' '), { fieldErrors: listed })
}

function assertNumberOfChanges({ added, updated }: SubEntityChange): void {
  const most = Math.max(added.list.length, updated.length)
  if (most > MOST_SUB_ENTITIES) throw tooManySubEntities(most)
}

const tooManySubEntities = (count: number): Refusal =>
  new Refusal('tooLarge', `A policyholder has at most ${MOST_SUB_ENTITIES} sub-entities; these are ${count}.`)

function assertWithinLimits(entity: Entity): void {
  if (entity.subEntities.length > MOST_SUB_ENTITIES) throw tooManySubEntities(entity.subEntities.length)
  const bytes = new TextEncoder().encode(JSON.stringify(entity)).length
  if (bytes > LARGEST_ENTITY_BYTES)
    throw new Refusal(
      'tooLarge',
      `The values of a policyholder and its sub-entities take at most ${LARGEST_ENTITY_BYTES} bytes as JSON; this would make them ${bytes}.`,
    )
}
