// The timeline view: the chart, its two sliders, and the state at the chosen time as known at the chosen step.
import { useMemo, useState } from 'preact/hooks'
import { DAY_MS } from '../calendar.ts'
import { sum } from '../decimal.ts'
import { type Child, h, part, type View } from '../element.ts'
import { day, dayOrMoment, moment, money, signedMoney, span, transaction, words } from '../format.ts'
import {
  containsTime,
  type History,
  historyOf,
  isKnown,
  knownAt,
  latestOf,
  perilSegments,
  premiumOfTerm,
  termAt,
} from '../knowledge.ts'
import { isOutlined } from '../large-policies.ts'
import { badge, emptyNote, facts, firstRows, section, table } from '../parts.ts'
import type { Policy } from '../wire.ts'
import { Chart, kindOf, type Point } from './chart.ts'
import { VIEW } from './words.ts'

const LISTED_PERILS = 200

const KINDS = [
  ['create', VIEW.newBusiness],
  ['endorse', VIEW.endorsement],
  ['renew', VIEW.renewal],
  ['cancel', VIEW.keptByACancellation],
  ['reinstate', VIEW.reinstatement],
] as const

export const timelineView = (policy: Policy, names: ReadonlyMap<string, string>): View =>
  part(Timeline, { policy, names })

function Timeline({ policy, names }: { policy: Policy; names: ReadonlyMap<string, string> }): View {
  const history = useMemo(() => historyOf(policy), [policy])
  const { steps, segments, start, end } = history
  const [point, move] = useState<Point>(() => {
    const now = latestOf(policy)
    return { asOf: now >= start && now < end ? now : start, step: steps.length - 1 }
  })
  if (segments.length === 0) return emptyNote(VIEW.noSegments)
  const currency = policy.grossFeesCurrency
  const lastDay = Math.max(0, Math.ceil((end - start) / DAY_MS) - 1)
  const dayOf = (at: number): number => Math.min(lastDay, Math.max(0, Math.floor((at - start) / DAY_MS)))
  const step = steps[point.step]!
  const since = step.at === undefined ? VIEW.withNotIssued : moment(step.at)
  const by = step.modifications.map(modification => transaction(modification.name)).join(', ')
  const known = by ? `${since} (${by})` : since
  const typedIn = (event: Event): number => Number((event.currentTarget as HTMLInputElement).value)
  const asOf = h('input', {
    type: 'range',
    id: 'as-of',
    min: 0,
    max: lastDay,
    step: 1,
    value: dayOf(point.asOf),
    'aria-valuetext': day(point.asOf),
    input: event => {
      const at = Math.min(end - 1, start + typedIn(event) * DAY_MS + DAY_MS / 2)
      move(now => ({ ...now, asOf: at }))
    },
  })
  const knownAtStep = h('input', {
    type: 'range',
    id: 'known-at',
    min: 0,
    max: steps.length - 1,
    step: 1,
    value: point.step,
    'aria-valuetext': known,
    input: event => {
      const step = typedIn(event)
      move(now => ({ ...now, step }))
    },
  })
  const present = new Set(history.segments.map(kindOf))
  return h(
    'div',
    {},
    h(
      'section',
      { class: 'card timeline', 'aria-label': VIEW.timeline },
      h(
        'div',
        { class: 'legend', 'aria-hidden': 'true' },
        KINDS.filter(([kind]) => present.has(kind)).map(([kind, text]) => h('span', { class: kind }, text)),
        h('span', { class: 'none' }, VIEW.noCover),
      ),
      h(
        'p',
        { class: 'axes soft small' },
        VIEW.axes,
        h('span', { class: 'wide' }, ' The figure at the end of each line is the premium of all terms.'),
      ),
      part(Chart, { policy, history, point, move }),
      h(
        'div',
        { class: 'sliders' },
        h(
          'div',
          { class: 'slider' },
          h('label', { for: 'as-of' }, VIEW.asOf),
          asOf,
          h('output', { for: 'as-of' }, day(point.asOf)),
        ),
        h(
          'div',
          { class: 'slider' },
          h('label', { for: 'known-at' }, VIEW.asKnownAt),
          knownAtStep,
          h('output', { for: 'known-at' }, known),
        ),
      ),
    ),
    h('div', { class: 'state' }, stateAt(policy, history, point, names, currency)),
    h(
      'details',
      { class: 'as-table' },
      h('summary', {}, VIEW.allSegmentsAsATable),
      segmentTable(history, currency),
    ),
  )
}

/** Shows what was known at the step about the time. */
function stateAt(
  policy: Policy,
  history: History,
  { asOf, step }: Point,
  names: ReadonlyMap<string, string>,
  currency: string,
): Child {
  const known = knownAt(history, step).find(one => one.start <= asOf && asOf < one.end)
  const at = history.steps[step]!.at
  const total = premiumOfTerm(history, step, termAt(history, step, asOf))
  const perils = policy.exposures.flatMap(exposure =>
    exposure.perils.flatMap(peril =>
      perilSegments(peril)
        .filter(one => isKnown(one, at) && containsTime(one, asOf))
        .map(one => ({ exposure, peril, one })),
    ),
  )
  const heading = `${day(asOf)}, ${at === undefined ? VIEW.withNotIssued : VIEW.asKnownOn(moment(at))}`
  if (!known)
    return section(
      heading,
      h('p', { class: 'notice' }, VIEW.noCoverThen),
      facts([[VIEW.termPremium, money(total, currency)]]),
    )
  const { segment, maker } = known
  return section(
    heading,
    facts([
      [VIEW.segment, span(segment.startTimestamp, segment.endTimestamp)],
      [VIEW.madeBy, maker ? transaction(maker.name) : '–'],
      [VIEW.segmentPremium, money(segment.grossPremium, currency)],
      [VIEW.taxes, money(segment.grossTaxes, currency)],
      [VIEW.termPremium, money(total, currency)],
    ]),
    perils.length === 0
      ? emptyNote(policy.exposures.some(isOutlined) ? VIEW.perilsUnderCover : VIEW.noPerilsWereCovered)
      : firstRows(
          VIEW.perilsCoveredThen,
          [
            {
              head: VIEW.peril,
              cell: ({ peril }) => names.get(peril.name) ?? words(peril.name),
            },
            {
              head: VIEW.exposure,
              cell: ({ exposure }) => [
                names.get(exposure.name) ?? words(exposure.name),
                ' ',
                h('span', { class: 'soft' }, exposure.displayId),
              ],
            },
            {
              head: VIEW.holds,
              cell: ({ one }) => h('span', { class: 'span' }, span(one.startTimestamp, one.endTimestamp)),
            },
            {
              head: VIEW.deductible,
              amount: true,
              cell: ({ one }) => money(one.deductible, one.deductibleCurrency),
            },
            { head: VIEW.premium, amount: true, cell: ({ one }) => money(one.premium, one.premiumCurrency) },
          ],
          perils,
          LISTED_PERILS,
        ),
    perils.length > 1 &&
      h(
        'p',
        { class: 'sum' },
        VIEW.together,
        h('strong', {}, money(sum(perils.map(({ one }) => one.premium)), currency)),
      ),
  )
}

const segmentTable = (history: History, currency: string): View =>
  table(
    VIEW.allSegments,
    [
      { head: VIEW.holds, cell: ({ segment }) => span(segment.startTimestamp, segment.endTimestamp) },
      { head: VIEW.madeBy, cell: ({ maker }) => (maker ? transaction(maker.name) : '–') },
      {
        head: VIEW.knownFrom,
        cell: ({ segment }) =>
          segment.issuedTimestamp ? moment(segment.issuedTimestamp) : badge('draft', VIEW.notIssued),
      },
      {
        head: VIEW.knownUntil,
        cell: ({ segment }) => (segment.replacedTimestamp ? dayOrMoment(segment.replacedTimestamp) : 'now'),
      },
      { head: VIEW.premium, amount: true, cell: ({ segment }) => money(segment.grossPremium, currency) },
      {
        head: VIEW.changeByItsTransaction,
        amount: true,
        cell: ({ maker }) => signedMoney(maker?.premiumChange, currency),
      },
    ],
    history.segments,
  )
