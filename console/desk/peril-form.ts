// A peril in a form: its fields, limits and deductible, and what requests send of them.
import { isAmount } from '../decimal.ts'
import type { Field, PerilSegment, ProductDetail } from '../wire.ts'
import { changes, type Filled, filledFrom, NOTHING, newRecordFields } from './values.ts'
import { FORMS } from './words.ts'

export type PerilKind = ProductDetail['exposures'][number]['perils'][number]

/** In the order in which forms show them, each with the property of a request that removes it. */
export const AMOUNTS = [
  ['deductible', 'removeDeductible'],
  ['indemnityPerItem', 'removeIndemnityPerItem'],
  ['indemnityPerEvent', 'removeIndemnityPerEvent'],
  ['indemnityInAggregate', 'removeIndemnityInAggregate'],
  ['lumpSumPayment', 'removeLumpSumPayment'],
] as const

export type AmountName = (typeof AMOUNTS)[number][0]
export type Amounts = Readonly<Partial<Record<AmountName, string>>>

export type PerilForm = { readonly filled: Filled; readonly amounts: Amounts }

/** The form of a new peril. It begins with the amounts of the configuration. */
export const newPeril = ({ defaults }: PerilKind): PerilForm => ({
  filled: NOTHING,
  amounts: Object.fromEntries(AMOUNTS.flatMap(([name]) => (defaults[name] ? [[name, defaults[name]]] : []))),
})

export const perilForm = (kind: PerilKind, segment: PerilSegment): PerilForm => ({
  filled: filledFrom(kind.fields as readonly Field[], segment),
  amounts: Object.fromEntries(
    AMOUNTS.flatMap(([name]) => (segment[name] === undefined ? [] : [[name, segment[name]]])),
  ),
})

export function perilRequest(kind: PerilKind, { filled, amounts }: PerilForm) {
  const { fieldValues, fieldGroups } = newRecordFields(kind.fields as readonly Field[], filled)
  const given = AMOUNTS.flatMap(([name]) => {
    const text = amounts[name]?.trim() ?? ''
    return text === '' || text === kind.defaults[name] ? [] : [[name, text]]
  })
  return {
    name: kind.name,
    ...(Object.keys(fieldValues).length > 0 && { fieldValues }),
    ...(fieldGroups.length > 0 && { fieldGroups }),
    ...(Object.fromEntries(given) as Amounts),
  }
}

/** Returns what a request sends for an existing peril, or undefined if nothing changed. */
export function perilChanges(
  kind: PerilKind,
  locator: string,
  before: PerilForm,
  now: PerilForm,
): object | undefined {
  const amounts = AMOUNTS.flatMap(([name, remove]): [string, string | boolean][] => {
    const text = now.amounts[name]?.trim() ?? ''
    if (text === (before.amounts[name] ?? '')) return []
    return [text === '' ? [remove, true] : [name, text]]
  })
  const other = {
    ...changes(kind.fields as readonly Field[], before.filled, now.filled),
    ...Object.fromEntries(amounts),
  }
  return Object.keys(other).length === 0 ? undefined : { perilLocator: locator, ...other }
}

export const isIndemnity = (name: AmountName): boolean => name.startsWith('indemnity')

/** Digits after the point that the service accepts in any amount. */
const MOST_DIGITS = 7

/** Returns what is wrong with an amount of a peril as it is typed, or undefined. */
export function amountFault(name: AmountName, text = ''): string | undefined {
  const typed = text.trim()
  if (typed === '' || isAmount(typed, MOST_DIGITS)) return undefined
  if (!isIndemnity(name)) return FORMS.notALimit
  return typed === 'unlimited' ? undefined : FORMS.notAnIndemnity
}
