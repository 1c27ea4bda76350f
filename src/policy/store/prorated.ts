// Splits of runs and holdbacks of modifications as their rows have them: in minor units. Of the holdbacks of a large
// policy, all of which one row has, those of a run are together.
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Holdback, RunSplit } from '../records/aggregate.ts'
import type { StoredHoldback, StoredSplit } from '../tables/policies.ts'

export const storedSplits = (splits: readonly RunSplit[]): StoredSplit[] =>
  splits.map(({ before, ...split }) => ({
    ...split,
    before: {
      premium: before.premium.minor,
      technicalPremium: before.technicalPremium?.minor,
      taxes: before.taxes.map(tax => tax.minor),
      commissions: before.commissions.map(commission => commission.minor),
    },
  }))

export function readSplits(splits: readonly StoredSplit[], currency: CurrencyCode): RunSplit[] {
  const amount = (minor: number) => fromMinor(minor, currency)
  return splits.map(({ by, segment, at, before }) => ({
    by: by as Uuid,
    segment: segment as Uuid,
    at: at as Instant,
    before: {
      premium: amount(before.premium),
      technicalPremium: before.technicalPremium === undefined ? undefined : amount(before.technicalPremium),
      taxes: before.taxes.map(amount),
      commissions: before.commissions.map(amount),
    },
  }))
}

type OfRun = Extract<StoredHoldback, { perilRunLocator: string }>

export function storedHoldbacks(holdbacks: readonly Holdback[]): StoredHoldback[] {
  const stored = new Map<string, StoredHoldback>()
  for (const one of holdbacks) {
    const { minor } = one.amount
    if (one.type === 'fee') {
      stored.set(one.feeLocator, { feeLocator: one.feeLocator, amount: minor })
      continue
    }
    const { perilRunLocator } = one
    const known = (stored.get(perilRunLocator) ?? { perilRunLocator }) as OfRun
    stored.set(perilRunLocator, known)
    if (one.type === 'premium') known.amount = minor
    else if (one.type === 'tax') known.taxes = { ...known.taxes, [one.taxName]: minor }
    else known.commissions = { ...known.commissions, [one.position]: minor }
  }
  return [...stored.values()]
}

export function readHoldbacks(stored: readonly StoredHoldback[], currency: CurrencyCode): Holdback[] {
  const amount = (minor: number) => fromMinor(minor, currency)
  return stored.flatMap((one): Holdback[] => {
    if ('feeLocator' in one)
      return [{ type: 'fee', feeLocator: one.feeLocator as Uuid, amount: amount(one.amount) }]
    const perilRunLocator = one.perilRunLocator as Uuid
    return [
      ...(one.amount === undefined
        ? []
        : [{ type: 'premium' as const, perilRunLocator, amount: amount(one.amount) }]),
      ...Object.entries(one.taxes ?? {}).map(([taxName, minor]) => ({
        type: 'tax' as const,
        perilRunLocator,
        taxName,
        amount: amount(minor),
      })),
      ...Object.entries(one.commissions ?? {}).map(([position, minor]) => ({
        type: 'commission' as const,
        perilRunLocator,
        position: Number(position),
        amount: amount(minor),
      })),
    ]
  })
}
