// Sub-entities of a policyholder: added, changed and deleted by its requests.
import { readUuid, type Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { WireFieldValues } from '../platform/wire.ts'
import { shown } from '../product/fields/errors.ts'
import type { SubEntityCreateRequest, SubEntityUpdateRequest } from './contract.ts'
import type { Dictionary, SubEntity } from './policyholder.ts'
import { changePolicyholderValues, VALIDATORS, type ValidationFieldError } from './values.ts'

export type ChangeContext = {
  readonly dictionary: Dictionary
  readonly now: Instant
  /** Fresh locators for sub-entities. */
  readonly newLocator: () => Uuid
}

export type SubEntityChange = {
  /** With the name of the list in the request. */
  readonly added: { readonly at: string; readonly list: readonly SubEntityCreateRequest[] }
  readonly updated: readonly SubEntityUpdateRequest[]
  /** Locators; they beat an update of the same sub-entity. */
  readonly deleted: readonly string[]
}

/** What stands for the sub-entities that a request adds. */
export type References = {
  /** In the order of the request. */
  readonly locators: readonly Uuid[]
  /** Values with locators in the place of localIds. */
  readonly resolve: (values: WireFieldValues) => WireFieldValues
  readonly errors: readonly ValidationFieldError[]
}

/**
 * Locators for the sub-entities that a request adds. Its values may name such a sub-entity by its `localId`,
 * in the field that is called as the sub-entity's `ontologyUri`; stored is the locator.
 */
export function newReferences({ at, list }: SubEntityChange['added'], newLocator: () => Uuid): References {
  const locators = list.map(newLocator)
  const errors: ValidationFieldError[] = []
  const taken = new Set<string>()
  const byField = new Map<string, Map<string, Uuid>>()
  for (const [index, { localId, ontologyUri }] of list.entries()) {
    if (localId === undefined) continue
    if (taken.has(localId)) errors.push(repeatedLocalId(`${at}[${index}].localId`, localId))
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

/** The sub-entities after the change, in the order in which they were added, with every problem. */
export function changedSubEntities(
  current: readonly SubEntity[],
  { added, updated, deleted }: SubEntityChange,
  { locators, resolve }: References,
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
  const known = (path: string, text: string): SubEntity | undefined => {
    const locator = readUuid(text)
    const found = locator && after.get(locator)
    if (!found) errors.push(unknownSubEntity(path, text))
    return found
  }

  for (const [index, wire] of updated.entries()) {
    const path = `updateSubEntities[${index}]`
    const before = known(`${path}.locator`, wire.locator)
    if (before) put(path, before, wire)
  }
  const gone = deleted.map((text, index) => known(`deleteSubEntities[${index}]`, text))
  for (const one of gone) if (one) after.delete(one.locator)
  for (const [index, wire] of added.list.entries()) {
    const locator = locators[index]!
    const { ontologyUri } = wire
    const empty = { locator, ontologyUri, completed: false, values: {}, createdAt: now, updatedAt: now }
    put(`${added.at}[${index}]`, empty, wire)
  }
  return { subEntities: [...after.values()], errors }
}

const unknownSubEntity = (path: string, locator: string): ValidationFieldError => ({
  ...VALIDATORS.INVALID_VALUE,
  ontologyUri: path,
  message: `The policyholder has no sub-entity '${shown(locator)}'; read it again.`,
})

const repeatedLocalId = (path: string, localId: string): ValidationFieldError => ({
  ...VALIDATORS.INVALID_VALUE,
  ontologyUri: path,
  message: `Another sub-entity of the request has the localId '${shown(localId)}' too; give each its own.`,
})
