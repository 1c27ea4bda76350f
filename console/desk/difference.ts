// The differences that a transaction makes to a policy once it is issued: values, groups, exposures and perils.
import { type Values, valuesText } from '../field-values.ts'
import { money, words } from '../format.ts'
import { isKnown, perilSegments } from '../knowledge.ts'
import type { Field, Peril, Policy, ProductDetail } from '../wire.ts'
import { AMOUNTS, type PerilKind } from './peril-form.ts'
import { FORMS } from './words.ts'

export type Difference = { readonly what: string; readonly before: string; readonly after: string }

type Recorded = {
  readonly fieldValues: Values
  readonly fieldGroupsByLocator: Readonly<Record<string, Values>>
}

type Spanned = {
  readonly startTimestamp: string
  readonly endTimestamp: string
  readonly issuedTimestamp?: string
  readonly replacedTimestamp?: string
}

/** Returns the record in force at the time, among those known now. */
const recordInForceAt = <Row extends Spanned>(rows: readonly Row[], at: number): Row | undefined =>
  rows.find(
    row => isKnown(row, undefined) && Number(row.startTimestamp) <= at && at < Number(row.endTimestamp),
  )

const groupText = (fields: readonly Field[], values: Values): string =>
  fields
    .filter(({ name }) => (values[name] ?? []).length > 0)
    .map(field => `${field.title}: ${valuesText(field, values[field.name])}`)
    .join('; ')

const isSame = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Compares groups by locator. Of the rest, groups with the same text are unchanged, and the others are paired in their order. */
function groupDifferences(field: Field, what: string, before: Recorded, after: Recorded): Difference[] {
  const texts = ({ fieldValues, fieldGroupsByLocator: groups }: Recorded): Map<string, string> =>
    new Map(
      (fieldValues[field.name] ?? []).flatMap(locator =>
        groups[locator] ? [[locator, groupText(field.fields ?? [], groups[locator])]] : [],
      ),
    )
  const [old, now] = [texts(before), texts(after)]
  const found: Difference[] = []
  for (const [locator, text] of old) {
    const same = now.get(locator)
    if (same === undefined) continue
    if (same !== text) found.push({ what, before: text, after: same })
    old.delete(locator)
    now.delete(locator)
  }
  const gone = [...old.values()]
  const come = [...now.values()]
  for (const text of [...gone])
    if (come.includes(text)) {
      come.splice(come.indexOf(text), 1)
      gone.splice(gone.indexOf(text), 1)
    }
  for (let at = 0; at < Math.max(gone.length, come.length); at += 1)
    found.push({ what, before: gone[at] ?? '', after: come[at] ?? '' })
  return found
}

function fieldDifferences(
  fields: readonly Field[],
  what: string,
  before: Recorded,
  after: Recorded,
): Difference[] {
  return fields.flatMap(field => {
    const name = what === '' ? field.title : `${what}: ${field.title}`
    if (field.type === 'group') return groupDifferences(field, name, before, after)
    const [old, now] = [before.fieldValues[field.name], after.fieldValues[field.name]]
    return isSame(old, now)
      ? []
      : [{ what: name, before: valuesText(field, old), after: valuesText(field, now) }]
  })
}

function perilDifferences(
  kind: PerilKind | undefined,
  what: string,
  before: Peril | undefined,
  after: Peril | undefined,
  at: number,
  currency: string,
): Difference[] {
  // For a large policy, perils may be left out before or after, so nothing is known about the difference.
  if (before?.characteristics.length === 0 || after?.characteristics.length === 0) return []
  const old = before && recordInForceAt(perilSegments(before), at)
  const now = after && recordInForceAt(perilSegments(after), at)
  if (!old || !now) return presence(what, old !== undefined, now !== undefined)
  const amounts = AMOUNTS.flatMap(([name]) =>
    old[name] === now[name]
      ? []
      : [
          {
            what: `${what}: ${FORMS.amounts[name]}`,
            before: amountText(old[name], currency),
            after: amountText(now[name], currency),
          },
        ],
  )
  return [...amounts, ...fieldDifferences((kind?.fields ?? []) as readonly Field[], what, old, now)]
}

/** Formats an amount. Indemnities can also be `unlimited`. */
function amountText(text: string | undefined, currency: string): string {
  if (text === undefined) return ''
  return /^\d+(?:\.\d+)?$/.test(text) ? money(text, currency) : words(text)
}

const presence = (what: string, was: boolean, is: boolean): Difference[] =>
  was === is
    ? []
    : [
        {
          what,
          before: was ? FORMS.isCovered : FORMS.notCovered,
          after: is ? FORMS.isCovered : FORMS.notCovered,
        },
      ]

/** Returns the differences at a time, in the order of the policy. */
export function differences(
  before: Pick<Policy, 'characteristics' | 'exposures' | 'grossFeesCurrency'>,
  after: Pick<Policy, 'characteristics' | 'exposures'>,
  product: Pick<ProductDetail, 'fields' | 'exposures'>,
  at: number,
): Difference[] {
  const [old, now] = [recordInForceAt(before.characteristics, at), recordInForceAt(after.characteristics, at)]
  const found = old && now ? fieldDifferences(product.fields as readonly Field[], '', old, now) : []
  const olds = new Map(before.exposures.map(one => [one.locator, one]))
  for (const exposure of after.exposures) {
    const kind = product.exposures.find(one => one.name === exposure.name)
    const earlier = olds.get(exposure.locator)
    const what = `${kind?.displayName ?? words(exposure.name)}${earlier ? ` ${exposure.displayId}` : ''}`
    const was = earlier && recordInForceAt(earlier.characteristics, at)
    const is = recordInForceAt(exposure.characteristics, at)
    if (!was || !is) {
      found.push(...presence(what, was !== undefined, is !== undefined))
      continue
    }
    found.push(...fieldDifferences((kind?.fields ?? []) as readonly Field[], what, was, is))
    const oldPerils = new Map(earlier.perils.map(one => [one.locator, one]))
    for (const peril of exposure.perils) {
      const perilKind = kind?.perils.find(one => one.name === peril.name)
      const title = `${what}: ${perilKind?.displayName ?? words(peril.name)}`
      found.push(
        ...perilDifferences(
          perilKind,
          title,
          oldPerils.get(peril.locator),
          peril,
          at,
          before.grossFeesCurrency,
        ),
      )
    }
  }
  return found
}
