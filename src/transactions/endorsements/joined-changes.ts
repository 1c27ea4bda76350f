// Merges the changes of several requests for one endorsement or renewal. Every addition gets a locator, the caller's or a new
// one, so that a later update can name it. The exposures, perils and groups created from additions have their own locators.
import { invalidRequest } from '../../kernel/errors.ts'
import type { LocatorSupply } from '../../kernel/locators.ts'
import type {
  EndorsedExposure,
  EndorsementChanges,
  ExposureCreate,
  PerilCreate,
  PerilUpdate,
} from '../../policy/records/transactions.ts'
import type { FieldChanges } from '../../product/fields/groups.ts'

type Names = Pick<LocatorSupply, 'uuid'>
type Groups = FieldChanges['addFieldGroups']

const withLocators = <T extends { locator?: string }>(additions: T[] | null | undefined, names: Names): T[] =>
  (additions ?? []).map(addition => ({ ...addition, locator: addition.locator ?? names.uuid() }))

const distinct = (locators: string[] | null | undefined): string[] => [...new Set(locators ?? [])]

const perilsWithLocators = (perils: PerilCreate[] | undefined, names: Names): PerilCreate[] =>
  withLocators(perils, names).map(peril => ({
    ...peril,
    fieldGroups: withLocators(peril.fieldGroups, names),
  }))

const groupsWithLocators = <T extends FieldChanges>(changes: T, names: Names): T => ({
  ...changes,
  addFieldGroups: withLocators(changes.addFieldGroups, names),
  removeFieldGroups: distinct(changes.removeFieldGroups),
})

/** Gives each addition a locator. Drops repeated ends and removals. */
export const withAdditionLocators = (changes: EndorsementChanges, names: Names): EndorsementChanges => ({
  ...groupsWithLocators(changes, names),
  addExposures: withLocators(changes.addExposures, names).map(exposure => ({
    ...exposure,
    fieldGroups: withLocators(exposure.fieldGroups, names),
    perils: perilsWithLocators(exposure.perils, names),
  })),
  updateExposures: (changes.updateExposures ?? []).map(update => ({
    ...groupsWithLocators(update, names),
    addPerils: perilsWithLocators(update.addPerils, names),
    updatePerils: (update.updatePerils ?? []).map(peril => groupsWithLocators(peril, names)),
    endPerils: distinct(update.endPerils),
  })),
  endExposures: distinct(changes.endExposures),
})

/**
 * Merges the earlier changes and `more`. Of two values the later wins, and an addition that `more` ends or removes is dropped.
 * Rejects with 400 other changes of an addition's parts: the addition does not exist yet, so its parts have no locators.
 */
export function mergeChanges(
  before: EndorsementChanges,
  more: EndorsementChanges,
  names: Names,
): EndorsementChanges {
  const first = withAdditionLocators(before, names)
  const second = withAdditionLocators(more, names)
  const isAdded = belongsTo(first.addExposures)
  const updates = Map.groupBy(second.updateExposures!, update => update.exposureLocator)
  const ended = new Set(second.endExposures)
  const additions = first
    .addExposures!.filter(exposure => !ended.has(exposure.locator!))
    .map(exposure => (updates.get(exposure.locator!) ?? []).reduce(updateAddition, exposure))
  return {
    ...fieldsOfBoth(first, second),
    addExposures: [...additions, ...second.addExposures!],
    updateExposures: mergeUpdates([
      ...first.updateExposures!,
      ...second.updateExposures!.filter(update => !isAdded(update.exposureLocator)),
    ]).map(({ update }) => update),
    endExposures: distinct([...first.endExposures!, ...ended].filter(locator => !isAdded(locator))),
    newPaymentScheduleName: second.newPaymentScheduleName ?? first.newPaymentScheduleName,
    reprice: second.reprice ?? first.reprice,
  }
}

/** Applies an update to an exposure that is not added yet. */
function updateAddition(exposure: ExposureCreate, update: EndorsedExposure): ExposureCreate {
  if (update.updatePerils?.length || update.updateFieldGroups?.length)
    throw invalidRequest(
      `Exposure '${exposure.locator}' is not added yet, so its perils and field groups cannot be updated. Remove them with endPerils and removeFieldGroups, and add them again with the new values.`,
    )
  assertAdded(exposure, 'endPerils', update.endPerils, exposure.perils)
  assertAdded(exposure, 'removeFieldGroups', update.removeFieldGroups, exposure.fieldGroups)
  const own = { fieldValues: exposure.fieldValues, addFieldGroups: exposure.fieldGroups ?? null }
  const { fieldValues, addFieldGroups } = fieldsOfBoth(own, update)
  return {
    ...exposure,
    fieldValues,
    fieldGroups: addFieldGroups!,
    perils: withoutNamed([...(exposure.perils ?? []), ...(update.addPerils ?? [])], update.endPerils),
  }
}

function assertAdded(
  { locator }: ExposureCreate,
  property: string,
  ended: string[] | null | undefined,
  additions: readonly { locator?: string }[] | undefined,
): void {
  const isAdded = belongsTo(additions)
  const unknown = (ended ?? []).find(part => !isAdded(part))
  if (unknown === undefined) return
  throw invalidRequest(
    `${property} contains '${unknown}', which is not part of the added exposure '${locator}'; use a locator from addExposures in the answer.`,
  )
}

/** Returns a function that says whether one of the additions has a locator. */
function belongsTo(
  additions: readonly { locator?: string }[] | null | undefined,
): (locator: string) => boolean {
  const locators = new Set((additions ?? []).map(addition => addition.locator))
  return locator => locators.has(locator)
}

function withoutNamed<T extends { locator?: string }>(
  additions: readonly T[],
  ended: readonly string[] | null | undefined,
): T[] {
  const locators = new Set<string | undefined>(ended ?? [])
  return additions.filter(addition => !locators.has(addition.locator))
}

/** Returns one update for each exposure, in request order. Of two values for a field the later wins. */
export function mergeUpdates(
  updates: readonly EndorsedExposure[],
): { update: EndorsedExposure; index: number }[] {
  const joined = new Map<string, { update: EndorsedExposure; index: number }>()
  for (const [index, update] of updates.entries()) {
    const first = joined.get(update.exposureLocator)
    joined.set(
      update.exposureLocator,
      first ? { index: first.index, update: joinedUpdate(first.update, update) } : { index, update },
    )
  }
  return [...joined.values()]
}

function joinedUpdate(first: EndorsedExposure, second: EndorsedExposure): EndorsedExposure {
  const added = first.addPerils ?? []
  const isAdded = belongsTo(added)
  const perils = new Map<string, PerilUpdate>()
  for (const update of [...(first.updatePerils ?? []), ...(second.updatePerils ?? [])]) {
    if (isAdded(update.perilLocator))
      throw invalidRequest(
        `Peril '${update.perilLocator}' is not added yet, so it cannot be updated. Remove it with endPerils, and add it again with the new values.`,
      )
    const before = perils.get(update.perilLocator)
    perils.set(
      update.perilLocator,
      before ? { ...before, ...amountsOfBoth(before, update), ...fieldsOfBoth(before, update) } : update,
    )
  }
  return {
    exposureLocator: first.exposureLocator,
    ...fieldsOfBoth(first, second),
    addPerils: [...withoutNamed(added, second.endPerils), ...(second.addPerils ?? [])],
    updatePerils: [...perils.values()],
    endPerils: distinct([
      ...(first.endPerils ?? []),
      ...(second.endPerils ?? []).filter(locator => !isAdded(locator)),
    ]),
  }
}

const AMOUNTS = {
  deductible: 'removeDeductible',
  lumpSumPayment: 'removeLumpSumPayment',
  indemnityInAggregate: 'removeIndemnityInAggregate',
  indemnityPerEvent: 'removeIndemnityPerEvent',
  indemnityPerItem: 'removeIndemnityPerItem',
} as const

/** Merges amounts. An amount in the second update cancels its removal in the first. */
function amountsOfBoth(first: PerilUpdate, second: PerilUpdate): Partial<PerilUpdate> {
  const later = definedValues(second)
  const isDefined = (name: keyof typeof AMOUNTS): boolean => later[name] !== undefined
  const kept = (Object.keys(AMOUNTS) as (keyof typeof AMOUNTS)[]).filter(isDefined)
  return {
    ...definedValues(first),
    ...Object.fromEntries(kept.map(name => [AMOUNTS[name], undefined])),
    ...later,
  }
}

/** Drops missing values, which must not replace earlier ones. */
const definedValues = <T extends object>(update: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(update).filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<T>

/** Drops added groups that the second removes, and merges the values of groups that both update. */
function fieldsOfBoth(first: FieldChanges, second: FieldChanges): FieldChanges {
  const added = first.addFieldGroups ?? []
  const isAdded = belongsTo(added)
  const updates = second.updateFieldGroups ?? []
  const updatesOf = Map.groupBy(updates, update => update.fieldGroupLocator)
  const kept: NonNullable<Groups> = withoutNamed(added, second.removeFieldGroups).map(group => ({
    ...group,
    fieldValues: (updatesOf.get(group.locator!) ?? []).reduce<object>(
      (values, update) => valuesOfBoth({ fieldValues: values }, update),
      valuesOfBoth(group, {}),
    ),
  }))
  const groups = new Map<string, NonNullable<FieldChanges['updateFieldGroups']>[number]>()
  for (const update of [
    ...(first.updateFieldGroups ?? []),
    ...updates.filter(({ fieldGroupLocator }) => !isAdded(fieldGroupLocator)),
  ]) {
    const key = JSON.stringify([update.fieldGroupLocator, update.fieldName])
    const before = groups.get(key)
    groups.set(key, before ? { ...before, fieldValues: valuesOfBoth(before, update) } : update)
  }
  return {
    fieldValues: valuesOfBoth(first, second),
    addFieldGroups: [...kept, ...(second.addFieldGroups ?? [])],
    updateFieldGroups: [...groups.values()],
    removeFieldGroups: distinct([
      ...(first.removeFieldGroups ?? []),
      ...(second.removeFieldGroups ?? []).filter(locator => !isAdded(locator)),
    ]),
  }
}

type Values = Pick<FieldChanges, 'fieldValues'>

const valuesOfBoth = (first: Values, second: Values): object => ({
  ...(first.fieldValues ?? {}),
  ...(second.fieldValues ?? {}),
})
