// Applies a request to a policyholder. Pure. Finds every problem of the request before rejecting it.
import { Refusal, tooLarge } from '../kernel/errors.ts'
import { readUuid, type Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { WireFieldValues } from '../platform/wire.ts'
import { policyholderGraph } from '../product/constraint-graph.ts'
import { type FieldError, type FieldValues, shortenForMessage, valuesOf } from '../product/fields/values.ts'
import { basisAt, type SelectionBasis } from '../product/resources.ts'
import { breachesOf, fieldsInUse } from '../reference/constraints/answers.ts'
import type { ConstrainedField } from '../reference/constraints/evaluation.ts'
import type { TablesInForce } from '../reference/constraints/force.ts'
import type {
  PolicyholderCreateRequest,
  PolicyholderUpdateRequest,
  SubEntityCreateRequest,
  SubEntityUpdateRequest,
} from './contract.ts'
import type { Dictionary, Entity, Policyholder, SubEntity, ValidationFieldError } from './values.ts'
import { changePolicyholderValues, VALIDATORS } from './values.ts'

/** Maximum per policyholder. */
export const MOST_SUB_ENTITIES = 200

/** Maximum size of the JSON of one policyholder's values and sub-entities, in bytes. */
export const LARGEST_ENTITY_BYTES = 524_288

/** Maximum number of problems in one response. The rest are counted. */
const MOST_PROBLEMS = 100

export type PolicyholderIdentity = { readonly locator: Uuid; readonly accountLocator: Uuid }

/** Returns a new policyholder. Throws 400 `policyholderValidation` or 413 `tooLarge`. */
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
 * Returns the updated policyholder. Throws 409 `versionConflict` for a request made from another version, otherwise the same as
 * `newPolicyholder`. An unknown sub-entity is a problem of the request.
 */
export function updatedPolicyholder(
  current: Policyholder,
  request: PolicyholderUpdateRequest,
  context: ChangeContext,
): Policyholder {
  if (request.version !== current.version)
    throw new Refusal(
      'versionConflict',
      `Policyholder '${current.locator}' is at version ${current.version}, not ${request.version}. Read it again and repeat the change.`,
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
  if (problems.length > 0) throw validationRefusal(problems)
  const after = { locator: entity.locator, values: own.values, subEntities: parts.subEntities }
  assertWithinLimits(after)
  return after
}

/** Returns the refusal of a request. Its message has the listed problems and the number of others; `fieldErrors` lists each. */
export function validationRefusal(problems: readonly ValidationFieldError[]): Refusal {
  const listed = problems.slice(0, MOST_PROBLEMS)
  const more = problems.length - listed.length
  const sentences = listed.map(({ message }) => message)
  if (more > 0) sentences.push(`Problems not listed: ${more}.`)
  return new Refusal('policyholderValidation', sentences.join(' '), { fieldErrors: listed })
}

function assertNumberOfChanges({ added, updated }: SubEntityChange): void {
  const most = Math.max(added.list.length, updated.length)
  if (most > MOST_SUB_ENTITIES) throw tooManySubEntities(most)
}

const tooManySubEntities = (count: number): Refusal =>
  tooLarge(
    `A policyholder can have at most ${MOST_SUB_ENTITIES} sub-entities; this request would make ${count}.`,
  )

function assertWithinLimits(entity: Entity): void {
  if (entity.subEntities.length > MOST_SUB_ENTITIES) throw tooManySubEntities(entity.subEntities.length)
  const bytes = new TextEncoder().encode(JSON.stringify(entity)).length
  if (bytes > LARGEST_ENTITY_BYTES)
    throw tooLarge(
      `The values of a policyholder and its sub-entities can take at most ${LARGEST_ENTITY_BYTES} bytes as JSON; with this request they would take ${bytes}.`,
    )
}

export type ChangeContext = {
  readonly dictionary: Dictionary
  readonly now: Instant
  readonly newLocator: () => Uuid
}

export type SubEntityChange = {
  /** `at` is the name of the list in the request. */
  readonly added: { readonly at: string; readonly list: readonly SubEntityCreateRequest[] }
  readonly updated: readonly SubEntityUpdateRequest[]
  /** Locators. A deletion takes precedence over an update of the same sub-entity. */
  readonly deleted: readonly string[]
}

/**
 * Assigns locators to added sub-entities, in request order. A value may refer to one by its `localId`, in the field named by the
 * sub-entity's `ontologyUri`. `resolve` replaces such references by the locator.
 */
function newReferences({ at, list }: SubEntityChange['added'], newLocator: () => Uuid) {
  const locators = list.map(newLocator)
  const errors: ValidationFieldError[] = []
  const taken = new Set<string>()
  const byField = new Map<string, Map<string, Uuid>>()
  for (const [index, { localId, ontologyUri }] of list.entries()) {
    if (localId === undefined) continue
    if (taken.has(localId))
      errors.push(
        invalidAt(
          `${at}[${index}].localId`,
          `Another sub-entity of the request also has the localId '${shortenForMessage(localId)}'; give each sub-entity its own localId.`,
        ),
      )
    taken.add(localId)
    const ofField = byField.get(ontologyUri) ?? new Map<string, Uuid>()
    byField.set(ontologyUri, ofField.set(localId, locators[index]!))
  }
  const resolve = (values: WireFieldValues): WireFieldValues => {
    if (byField.size === 0) return values
    const resolved = Object.entries(values).map(([name, value]) => {
      const locatorOf = byField.get(name)
      if (!locatorOf || value === null) return [name, value] as const
      const items = Array.isArray(value) ? value : [value]
      return [name, items.map(item => locatorOf.get(String(item)) ?? item)] as const
    })
    return Object.fromEntries(resolved)
  }
  return { locators, resolve, errors }
}

/** Returns the sub-entities after the change, in the order added, and every problem. */
function changedSubEntities(
  current: readonly SubEntity[],
  { added, updated, deleted }: SubEntityChange,
  { locators, resolve }: Pick<ReturnType<typeof newReferences>, 'locators' | 'resolve'>,
  { dictionary, now }: ChangeContext,
): { subEntities: SubEntity[]; errors: ValidationFieldError[] } {
  const errors: ValidationFieldError[] = []
  const after = new Map(current.map(one => [one.locator, one]))
  const put = (path: string, before: SubEntity, wire: SubEntityCreateRequest | SubEntityUpdateRequest) => {
    const { completed, ontologyUri } = wire
    const changed = changePolicyholderValues(dictionary.fields, before.values, resolve(wire.values), {
      completed,
      wasCompleted: before.completed,
      subEntity: true,
      timeZone: dictionary.timeZone,
      now,
    })
    for (const error of changed.errors)
      errors.push({ ...error, ontologyUri: `${path}.values.${error.ontologyUri}` })
    after.set(before.locator, { ...before, completed, ontologyUri, values: changed.values, updatedAt: now })
  }
  const findSubEntity = (path: string, text: string): SubEntity | undefined => {
    const locator = readUuid(text)
    const found = locator && after.get(locator)
    if (!found)
      errors.push(
        invalidAt(
          path,
          `The policyholder has no sub-entity '${shortenForMessage(text)}'. Read the policyholder again.`,
        ),
      )
    return found
  }

  for (const [index, wire] of updated.entries()) {
    const path = `updateSubEntities[${index}]`
    const before = findSubEntity(`${path}.locator`, wire.locator)
    if (before) put(path, before, wire)
  }
  const removed = deleted.map((text, index) => findSubEntity(`deleteSubEntities[${index}]`, text))
  for (const one of removed) if (one) after.delete(one.locator)
  for (const [index, wire] of added.list.entries()) {
    const locator = locators[index]!
    const { ontologyUri } = wire
    const empty = { locator, ontologyUri, completed: false, values: {}, createdAt: now, updatedAt: now }
    put(`${added.at}[${index}]`, empty, wire)
  }
  return { subEntities: [...after.values()], errors }
}

const invalidAt = (path: string, message: string): ValidationFieldError => ({
  ...VALIDATORS.INVALID_VALUE,
  ontologyUri: path,
  message,
})

// Checks a policyholder's own values, but not its sub-entities, against constraint tables in force (resources brief 3). A draft is
// checked only for types; completing it checks all values. A table that is not in force does not apply, so policyholders may exist
// before tables are uploaded.
/** Reads the tables with these static names that are in force. */
export type ReadTables = (
  configuration: Pick<Dictionary, 'resources'>,
  staticNames: readonly string[],
  basis: SelectionBasis,
) => Promise<TablesInForce>

type CheckedPolicyholder = Pick<Policyholder, 'locator' | 'completed' | 'entity'>

/**
 * Returns the problems that the tables find. If the policyholder was completed `before`, checks only what the request `sent` and
 * what a changed value governs, so that old data does not block other changes. Reads no table if no field to check has a value.
 */
export async function constraintErrors(
  after: CheckedPolicyholder,
  { before, sent }: { readonly before?: CheckedPolicyholder; readonly sent: readonly string[] },
  dictionary: Dictionary,
  now: Instant,
  readTables: ReadTables,
): Promise<FieldError[]> {
  const checked = fieldsToCheck(after, before, new Set(sent), dictionary)
  if (checked.length === 0) return []
  // All tables of the dictionary, so that one read serves every account of a migration.
  const { tables: names } = policyholderGraph(dictionary.fields)
  const tables = await readTables(dictionary, names, basisAt(now))
  return [...(await breachesOf(checked, tables)).values()].flat()
}

function fieldsToCheck(
  { locator, completed, entity: { values } }: CheckedPolicyholder,
  before: CheckedPolicyholder | undefined,
  sent: ReadonlySet<string>,
  { fields, timeZone }: Dictionary,
): ConstrainedField[] {
  if (!completed || !fields.some(({ constraint }) => constraint)) return []
  const inUse = fieldsInUse([{ kind: 'policyholder', locator, fields, values }], timeZone)
  if (!before?.completed) return inUse
  const earlier = before.entity.values
  return inUse.filter(
    ({ field, where }) =>
      sent.has(field.name) ||
      where.some(({ governor }) => governor && !isSame(earlier, values, governor.field.name)),
  )
}

function isSame(earlier: FieldValues, later: FieldValues, name: string): boolean {
  const [then, now] = [valuesOf(earlier, name), valuesOf(later, name)]
  return then.length === now.length && then.every((value, at) => value === now[at])
}
