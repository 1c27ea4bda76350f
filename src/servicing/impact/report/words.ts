// Numbers and names as the report shows them.
import { type CurrencyCode, fromMinor, toText } from '../../../kernel/money.ts'
import type { Occasion } from '../risk.ts'
import { percentOf } from '../totals.ts'

/** What the report is about. Names are unchanged from the author. */
export type Head = {
  readonly oldName: string
  readonly newName: string
  readonly bookName: string
  readonly occasion: Occasion
  /** ISO day. */
  readonly day: string
  readonly currency: CurrencyCode
  /** ISO day on which the report was made. */
  readonly madeOn: string
}

/** Formats an amount, as in `1,234.50`. With `isSigned`, a positive amount has a plus. */
export function amountText(minor: number, currency: CurrencyCode, isSigned = false): string {
  const [whole, fraction] = toText(fromMinor(Math.abs(minor), currency)).split('.')
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',')
  const plus = isSigned && minor > 0 ? '+' : ''
  return `${minor < 0 ? '-' : plus}${grouped}${fraction === undefined ? '' : `.${fraction}`}`
}

/** Formats a change, as in `+2.40 %`, or `-` if nothing was paid before. */
export const changeText = (old: number, now: number): string => {
  const percent = percentOf(old, now)
  return percent === undefined ? '-' : percentText(percent, 2)
}

/** Formats a percentage with its sign, as in `+2.40 %`. Zero after rounding has none. */
export function percentText(percent: number, places: number): string {
  const text = percent.toFixed(places)
  if (Number(text) === 0) return `${(0).toFixed(places)} %`
  return `${percent > 0 ? '+' : ''}${text} %`
}

/** Formats a count, as in `1,234`. */
export const groupThousands = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** Formats a number of policies, as in `1,234 policies`. */
export const policiesText = (count: number): string =>
  `${groupThousands(count)} ${count === 1 ? 'policy' : 'policies'}`

/** Formats a share as a percentage without a sign, as in `12.5 %`, or `-` if there is nothing to share. */
export const shareText = (count: number, all: number): string =>
  all === 0 ? '-' : `${((100 * count) / all).toFixed(1)} %`

/** Describes the policies and terms that are priced, as a sentence without its full stop. */
export const occasionText = ({ occasion, day }: Pick<Head, 'occasion' | 'day'>): string =>
  occasion === 'renewal'
    ? `Policies in force on ${day}, each for the term after its current one`
    : `Policies in force on ${day}, each for a term that begins on that day`

/** Escapes text for elements and for attributes in quotes of either kind. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
