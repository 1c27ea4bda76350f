// The cover: exposures with their perils, as known now, and the values of the policy.
import { useState } from 'preact/hooks'
import { sum } from '../decimal.ts'
import { type Child, h, part, type View } from '../element.ts'
import { type Fields, fieldTitle } from '../field-values.ts'
import { dayOrMoment, money, msOf, span, words } from '../format.ts'
import { current, isKnown, latestOf, perilSegments, type SpannedPeril } from '../knowledge.ts'
import { exposureInFull, isOutlined } from '../large-policies.ts'
import { badge, collapsible, emptyNote, facts, fieldValues, loadedSection, section, table } from '../parts.ts'
import type { Exposure, Peril, Policy } from '../wire.ts'
import type { Known } from './view-input.ts'
import { VIEW } from './words.ts'

/** With more exposures than this, each is collapsed at first. */
const MOST_OPEN = 10

/** Exposures drawn in one step. Drawing a thousand would block the page for a quarter of a second. */
const AT_ONCE = 200

type Names = ReadonlyMap<string, string>

type Named = Pick<Known, 'names' | 'fields'>

export function coverView(policy: Policy, { names, fields }: Named): View {
  const now = latestOf(policy)
  const segment = current(policy.characteristics, now)
  return h(
    'div',
    {},
    section(
      VIEW.exposuresAndPerils,
      policy.exposures.length === 0
        ? emptyNote(VIEW.nothingCovered)
        : part(Exposures, { policy, named: { names, fields }, now }),
    ),
    segment &&
      section(
        VIEW.policyValues,
        h('p', { class: 'soft small' }, span(segment.startTimestamp, segment.endTimestamp)),
        fieldValues(segment.fieldValues, fields.policy, segment.fieldGroupsByLocator) ?? emptyNote(VIEW.none),
        groups(segment.fieldGroupsByLocator, segment.fieldValues, fields.policy),
      ),
    policy.fees.length > 0 &&
      section(
        VIEW.fees,
        table(
          VIEW.policyFees,
          [
            { head: VIEW.fee, cell: fee => [words(fee.name), fee.reversed && [' ', badge('reversed')]] },
            { head: VIEW.for, cell: fee => span(fee.startTimestamp, fee.endTimestamp) },
            { head: VIEW.amount, amount: true, cell: fee => money(fee.amount, fee.amountCurrency) },
          ],
          policy.fees,
        ),
      ),
  )
}

type Shown = { readonly policy: Policy; readonly named: Named; readonly now: number }

function Exposures({ policy, named, now }: Shown): View {
  const [most, show] = useState(AT_ONCE)
  const { exposures } = policy
  const left = exposures.length - most
  return h(
    'div',
    { class: 'tree' },
    exposures.slice(0, most).map(exposure => exposureNode(policy, exposure, named, now)),
    left > 0 &&
      h(
        'button',
        { type: 'button', click: () => show(most + AT_ONCE) },
        VIEW.moreExposures(Math.min(left, AT_ONCE), left),
      ),
  )
}

/** Values of groups, each under the title of the field that lists its locator. */
function groups(
  byLocator: Readonly<Record<string, Record<string, string[]>>>,
  values: Readonly<Record<string, string[]>>,
  fields: Fields,
): Child {
  return Object.entries(byLocator).map(([locator, group]) => {
    const field = Object.entries(values).find(([, list]) => list.includes(locator))?.[0]
    return h(
      'div',
      { class: 'group' },
      h('h3', { class: 'minor' }, field ? fieldTitle(fields, field) : VIEW.group),
      fieldValues(group, fields),
    )
  })
}

const exposureNode = (policy: Policy, exposure: Exposure, named: Named, now: number): View =>
  collapsible(
    exposure.locator,
    policy.exposures.length <= MOST_OPEN,
    [
      h('span', { class: 'node-name' }, spokenName(exposure, named.names)),
      h('span', { class: 'soft small' }, VIEW.exposureWith(exposure.displayId, exposure.perils.length)),
    ],
    () =>
      isOutlined(exposure)
        ? loadedSection(VIEW.loads.perils, async () =>
            exposureContent(await exposureInFull(policy, exposure), named, now),
          )
        : exposureContent(exposure, named, now),
  )

const spokenName = ({ name }: { name: string }, names: Names): string => names.get(name) ?? words(name)

function exposureContent(exposure: Exposure, { names, fields }: Named, now: number): Child {
  const own = fields.ofExposure(exposure.name)
  const held = current(exposure.characteristics, now)
  return [
    exposure.perils.length > 0 &&
      table(
        VIEW.perilsOf(`${spokenName(exposure, names)} ${exposure.displayId}`),
        [
          { head: VIEW.peril, cell: ({ peril }) => spokenName(peril, names) },
          { head: VIEW.covered, cell: ({ known }) => coverOf(known) },
          { head: VIEW.limits, cell: ({ known }) => limits(known.at(-1)) },
          {
            head: VIEW.premium,
            amount: true,
            cell: ({ known }) =>
              known[0] ? money(sum(known.map(one => one.premium)), known[0].premiumCurrency) : '–',
          },
        ],
        exposure.perils.map(peril => ({ peril, known: knownOf(peril) })),
        ({ known, peril }) => perilHistory(peril, known, fields.ofPeril(exposure.name, peril.name)),
      ),
    held && fieldValues(held.fieldValues, own, held.fieldGroupsByLocator),
    held && groups(held.fieldGroupsByLocator, held.fieldValues, own),
  ]
}

const knownOf = (peril: Peril): SpannedPeril[] =>
  perilSegments(peril)
    .filter(one => isKnown(one, undefined))
    .sort((a, b) => msOf(a.startTimestamp) - msOf(b.startTimestamp))

const coverOf = (known: readonly SpannedPeril[]): Child =>
  known.length === 0
    ? badge('cancelled', VIEW.noCover)
    : h(
        'span',
        { class: 'span' },
        `${dayOrMoment(known[0]!.startTimestamp)} – ${dayOrMoment(known.at(-1)!.endTimestamp)}`,
      )

/** Formats a limit, which is an amount or a word such as `unlimited`. */
const amountOrText = (text: string, currency: string): string =>
  /^-?\d+(?:\.\d+)?$/.test(text) ? money(text, currency) : text

function limits(one: SpannedPeril | undefined): string {
  if (!one) return '–'
  const facts = [
    one.deductible && VIEW.deductibleOf(money(one.deductible, one.deductibleCurrency)),
    one.indemnityPerEvent && VIEW.anEvent(amountOrText(one.indemnityPerEvent, one.indemnityPerEventCurrency)),
    one.indemnityPerItem && VIEW.anItem(amountOrText(one.indemnityPerItem, one.indemnityPerItemCurrency)),
    one.indemnityInAggregate &&
      VIEW.inAll(amountOrText(one.indemnityInAggregate, one.indemnityInAggregateCurrency)),
  ].filter(Boolean)
  return facts.join(', ') || '–'
}

const perilHistory = (peril: Peril, known: readonly SpannedPeril[], fields: Fields): Child => [
  table(
    VIEW.segmentsOf(`${words(peril.name)} ${peril.displayId}`),
    [
      { head: VIEW.holds, cell: one => span(one.startTimestamp, one.endTimestamp) },
      {
        head: VIEW.technicalPremium,
        amount: true,
        cell: one => money(one.technicalPremium, one.premiumCurrency),
      },
      { head: VIEW.premium, amount: true, cell: one => money(one.premium, one.premiumCurrency) },
    ],
    known,
  ),
  facts([[VIEW.locator, h('code', {}, peril.locator)]]),
  known.at(-1) && fieldValues(known.at(-1)!.fieldValues, fields),
]
