// Transactions: what each changed of the premium, and what is asked for or was refused beside them.
import { get } from '../api.ts'
import { sum } from '../decimal.ts'
import { h } from '../dom.ts'
import { change, dayOrMoment, moment, money, transaction, words } from '../format.ts'
import { badge, empty, facts, loaded, section, table } from '../parts.ts'
import type { Cancellation, Endorsement, Modification, Policy, Renewal } from '../wire.ts'

type PriceChange = {
  newTotal: string
  newTotalCurrency: string
  totalChange: string
  premiumChange?: string
  newGrossPremium?: string
  grossPremiumChange?: string
  grossTaxesChange?: string
  grossFeesChange?: string
}

/** A request for a transaction, of whichever kind. */
type Asked = {
  kind: string
  path: string
  name: string
  state: string
  created: string
  from: string | undefined
}

export function transactionsView(
  policy: Policy,
  names: ReadonlyMap<string, string>,
  signal: AbortSignal,
): HTMLElement {
  return h(
    'div',
    {},
    section('Transactions', modificationTable(policy, names)),
    section(
      'Endorsements, renewals and cancellations',
      loaded('requests', async () =>
        requestTable(await requestsOf(policy.locator, signal), policy.grossFeesCurrency, signal),
      ),
    ),
  )
}

function modificationTable(policy: Policy, names: ReadonlyMap<string, string>): HTMLElement {
  const issued = policy.modifications.filter(one => one.issuedTimestamp !== undefined)
  const totals = new Map(
    issued.map((one, at) => [
      one.locator,
      sum(issued.slice(0, at + 1).map(({ premiumChange }) => premiumChange)),
    ]),
  )
  const currency = policy.grossFeesCurrency
  return policy.modifications.length === 0
    ? empty('None yet.')
    : table(
        'Transactions of the policy',
        [
          {
            head: 'Transaction',
            cell: one => [h('span', { class: 'soft' }, `${one.number} `), transaction(one.name)],
          },
          {
            head: 'In effect from',
            cell: one => (one.effectiveTimestamp ? dayOrMoment(one.effectiveTimestamp) : '–'),
          },
          {
            head: 'Known since',
            cell: one => (one.issuedTimestamp ? moment(one.issuedTimestamp) : badge('draft', 'Not issued')),
          },
          { head: 'Change', amount: true, cell: one => change(one.premiumChange, one.premiumChangeCurrency) },
          { head: 'Premium since', amount: true, cell: one => money(totals.get(one.locator), currency) },
        ],
        policy.modifications,
        one => modificationDetail(policy, one, names),
      )
}

function modificationDetail(
  policy: Policy,
  one: Modification,
  names: ReadonlyMap<string, string>,
): HTMLElement {
  const exposureOf = new Map(policy.exposures.map(exposure => [exposure.locator, exposure]))
  const perilOf = new Map(
    policy.exposures.flatMap(({ perils }) => perils.map(peril => [peril.locator, peril])),
  )
  const changes = one.exposureModifications.flatMap(({ exposureLocator, perilModifications }) =>
    perilModifications.map(peril => ({ exposureLocator, peril })),
  )
  const nameOf = (name: string | undefined): string =>
    name === undefined ? '–' : (names.get(name) ?? words(name))
  const { automatedUnderwritingResult: underwriting } = one
  return h(
    'div',
    {},
    underwriting &&
      facts([
        ['Underwriting', badge(underwriting.decision)],
        ['Notes', underwriting.notes.join(' ') || 'None'],
      ]),
    changes.length === 0
      ? empty('It changed no peril.')
      : table(
          `Perils that transaction ${one.number} changed`,
          [
            { head: 'Peril', cell: ({ peril }) => nameOf(perilOf.get(peril.perilLocator)?.name) },
            {
              head: 'Exposure',
              cell: ({ exposureLocator }) => nameOf(exposureOf.get(exposureLocator)?.name),
            },
            {
              head: 'What',
              cell: ({ peril }) =>
                peril.newPerilCharacteristicsLocator === undefined
                  ? 'Ended'
                  : peril.replacedPerilCharacteristicsLocator === undefined
                    ? 'Added'
                    : 'Changed',
            },
            {
              head: 'Premium',
              amount: true,
              cell: ({ peril }) => change(peril.premiumChange, peril.premiumChangeCurrency),
            },
          ],
          changes.slice(0, 500),
        ),
  )
}

async function requestsOf(locator: string, signal: AbortSignal): Promise<Asked[]> {
  const path = `/policies/${encodeURIComponent(locator)}`
  const [endorsements, renewals, cancellations] = await Promise.all([
    get<Endorsement[]>(`${path}/endorsements`, signal),
    get<Renewal[]>(`${path}/renewals`, signal),
    get<Cancellation[]>(`${path}/cancellations`, signal),
  ])
  return [
    ...endorsements.map(one => ({
      ...one,
      kind: 'Endorsement',
      path: `/endorsements/${one.locator}`,
      name: one.endorsementName,
      from: one.startTimestamp,
    })),
    ...renewals.map(one => ({
      ...one,
      kind: 'Renewal',
      path: `/renewals/${one.locator}`,
      name: '',
      from: undefined,
    })),
    ...cancellations.map(one => ({
      ...one,
      kind: 'Cancellation',
      path: `/cancellations/${one.locator}`,
      from: one.effectiveTimestamp,
    })),
  ]
    .map(({ kind, path, name, state, createdTimestamp: created, from }) => ({
      kind,
      path,
      name,
      state,
      created,
      from,
    }))
    .sort((a, b) => Number(b.created) - Number(a.created))
}

const requestTable = (asked: readonly Asked[], currency: string, signal: AbortSignal): HTMLElement =>
  asked.length === 0
    ? empty('None was asked for.')
    : table(
        'Requests for transactions',
        [
          {
            head: 'Request',
            cell: ({ kind, name }) => [kind, name && h('span', { class: 'soft' }, ` ${words(name)}`)],
          },
          { head: 'State', cell: ({ state }) => badge(state) },
          { head: 'Made', cell: ({ created }) => moment(created) },
          { head: 'In effect from', cell: ({ from }) => (from ? dayOrMoment(from) : '–') },
        ],
        asked,
        one =>
          loaded('the price', async () => {
            const price = await get<PriceChange>(`${one.path}/price`, signal)
            return facts([
              ['Premium', change(price.grossPremiumChange ?? price.premiumChange, currency)],
              ['Taxes', change(price.grossTaxesChange, currency)],
              ['Fees', change(price.grossFeesChange, currency)],
              ['Change of the total', change(price.totalChange, price.newTotalCurrency)],
              ['New total', money(price.newTotal, price.newTotalCurrency)],
            ])
          }),
      )
