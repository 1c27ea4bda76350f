// Translates records of an export into the terms of a migration request.
import { type CurrencyCode, decimal, fromMinor, money, toText } from '../../../kernel/money.ts'
import type { PerilResponse, PolicyResponse } from '../../../policy/contract/response.ts'

/** Something that records contain and a migration request cannot express. */
export class NotExpressible extends Error {}

export type Segment = PolicyResponse['characteristics'][number]

type Values = { readonly [name: string]: readonly string[] }

export type Told = Pick<Segment, 'fieldValues' | 'fieldGroupsByLocator' | 'mediaByLocator'>

/**
 * Returns field values for another system, with groups in place of their locators. Media are not included, because their files
 * remain here.
 */
export function dataOf({ fieldValues, fieldGroupsByLocator, mediaByLocator }: Told): Record<string, unknown> {
  const groups = fieldGroupsByLocator as Readonly<Record<string, Values>>
  const read = (values: Values): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, list]) => {
        const own = list.filter(one => !mediaByLocator[one])
        if (own.length === 0 && list.length > 0) return []
        return [
          [name, own.length > 0 && own.every(one => groups[one]) ? own.map(one => read(groups[one]!)) : own],
        ]
      }),
    )
  return read(fieldValues as Values)
}

const AMOUNTS = [
  ...([
    'deductible',
    'lumpSumPayment',
    'indemnityInAggregate',
    'indemnityPerEvent',
    'indemnityPerItem',
  ] as const),
]

/** Returns the deductible and limits of a segment of a peril. */
export const termsOf = (one: PerilResponse['characteristics'][number]): Record<string, unknown> =>
  Object.fromEntries(AMOUNTS.flatMap(name => (one[name] === undefined ? [] : [[name, one[name]]])))

/**
 * Converts an amount of a response, in major units, to minor units. Rounds half-up. Throws 422 for an amount that is too large to
 * store.
 */
export const minorOf = (amount: number, currency: string): number =>
  money(decimal(amount), currency as CurrencyCode).minor

/** Formats minor units as decimal text in major units, with the currency's number of digits. */
export const amountText = (minor: number, currency: string): string =>
  toText(fromMinor(minor, currency as CurrencyCode))

/** Whether the transaction begins a term. */
export const isTerm = ({ name }: Pick<PolicyResponse['modifications'][number], 'name'>): boolean =>
  name === 'modification.policy.create' || name === 'modification.policy.renew'

/** Whether a segment, exposure or peril is in force. */
export const isInForce = (one: {
  issuedTimestamp?: string | undefined
  replacedTimestamp?: string | undefined
}): boolean => one.issuedTimestamp !== undefined && one.replacedTimestamp === undefined

/** Returns the perils of an exposure in the order of the list, with perils of another peril in its `elements`. */
export function nestPerils<E extends { elements?: unknown[] }>(
  perils: readonly {
    readonly peril: Pick<PerilResponse, 'locator' | 'parentLocator'>
    readonly element: E
  }[],
): E[] {
  const byLocator = new Map(perils.map(({ peril, element }) => [peril.locator, element]))
  return perils.flatMap(({ peril: { parentLocator }, element }) => {
    if (parentLocator === undefined) return [element]
    const parent = byLocator.get(parentLocator)
    if (!parent) throw new NotExpressible('a coverage within one that is not in force')
    parent.elements = [...(parent.elements ?? []), element]
    return []
  })
}
