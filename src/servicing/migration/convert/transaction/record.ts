import type { CancellationLocator, DisplayId, EndorsementLocator } from '../../../../kernel/locators.ts'
import type { Modification } from '../../../../policy/records/aggregate.ts'
import type { ModificationKind } from '../../../../policy/records/transactions.ts'
import { type Category, isCancellationName } from '../history.ts'
import type { Carrying } from './carrying.ts'

// The modification that a transaction becomes, with the record of what it carries out.

/** Names of what is no endorsement: of that, its type. */
const NAMES: Partial<Readonly<Record<ModificationKind, string>>> = {
  creation: 'modification.policy.create',
  renewal: 'modification.policy.renew',
  cancellation: 'modification.policy.cancel',
  reinstatement: 'modification.policy.reinstate',
}

/** `undone`: the cancellations that a reinstatement undoes. Takes two digits, but one of a creation and a reinstatement. */
export function recordModification(
  carrying: Carrying,
  kind: ModificationKind,
  undone: readonly Modification[],
): void {
  carrying.making.modifications.set(carrying.by, recorded(carrying, kind, undone))
}

function recorded(carrying: Carrying, kind: ModificationKind, undone: readonly Modification[]): Modification {
  const { making, supply, by, made, quote, product } = carrying
  const { request, from, term } = carrying.transaction
  const { issuedTime: issuedAt, transactionType } = request
  const dates = { createdAt: made.createdAt, updatedAt: issuedAt, issuedAt }
  const modification: Modification = {
    locator: by,
    kind,
    displayId: supply.digits() as DisplayId,
    number: making.modifications.size,
    name: NAMES[kind] ?? transactionType,
    effectiveAt: from,
    policyEnd: kind === 'renewal' || kind === 'creation' ? term.endTime : making.policy.effectiveEnd,
    ...dates,
    acceptedAt: issuedAt,
  }
  if (kind === 'creation') return { ...modification, quoteLocator: quote.locator }
  const common = { modificationLocator: by, ...dates }
  if (kind === 'cancellation') {
    const locator = supply.digits() as CancellationLocator
    making.cancellations.set(locator, {
      ...common,
      locator,
      name: transactionType,
      state: 'issued',
      effectiveAt: from,
      conflictHandling: 'block',
    })
    return {
      ...modification,
      transactionLocator: String(locator),
      ...(isCancellationName(transactionType, product) && { cancellationName: transactionType }),
    }
  }
  if (kind === 'reinstatement') {
    const own = [...making.cancellations.values()].filter(one =>
      undone.some(cancellation => cancellation.locator === one.modificationLocator),
    )
    const records = own.map(one => ({
      ...common,
      locator: supply.uuid(),
      cancellationLocator: one.locator,
      state: 'issued' as const,
      effectiveAt: from,
    }))
    for (const one of records) making.reinstatements.set(one.locator, one)
    return {
      ...modification,
      transactionLocator: records.at(-1)!.locator,
      undoes: undone.at(-1)!.locator,
    }
  }
  const locator = supply.digits() as EndorsementLocator
  making.endorsements.set(locator, {
    ...common,
    kind: kind === 'renewal' ? 'renewal' : 'endorsement',
    locator,
    name: kind === 'renewal' ? 'renewal' : transactionType,
    state: 'issued',
    startAt: from,
    ...(kind === 'renewal' && { endAt: term.endTime }),
    changes: {},
    basedOn: making.modifications.size,
  })
  return { ...modification, transactionLocator: String(locator) }
}

// Which kind of modification a transaction becomes: by what it does, whatever it is called (rule 4 of resources brief 9.3).
const KINDS: Readonly<Record<Category, ModificationKind>> = {
  issuance: 'renewal',
  renewal: 'renewal',
  change: 'endorsement',
  reversal: 'endorsement',
  aggregate: 'endorsement',
  cancellation: 'cancellation',
  reinstatement: 'reinstatement',
}

/** `endsGap`: it covers what a cancellation left uncovered. */
export function kindOf({ transaction, isCreation }: Carrying, endsGap: boolean): ModificationKind {
  const { isGap, isFirstOfTerm, category, tree } = transaction
  if (isCreation) return 'creation'
  if (isFirstOfTerm) return 'renewal'
  if (isGap) return 'cancellation'
  if (endsGap) return 'reinstatement'
  const kind = KINDS[category]
  // A reinstatement of what is not cancelled, and what has no segment, change the policy like an endorsement.
  return kind === 'reinstatement' || kind === 'cancellation' || !tree ? 'endorsement' : kind
}
