// Invoices that were made and that are planned, payments, credits and grace periods.
import { get } from '../api.ts'
import { isNegative, sum } from '../decimal.ts'
import { type DeedButton, deedButtons } from '../deed-buttons.ts'
import { type Child, h, part, type View } from '../element.ts'
import { permissions } from '../find.ts'
import { change, day, dayOrMoment, moment, money, span, words } from '../format.ts'
import { desk, productOf } from '../open-desk.ts'
import { badge, empty, facts, loaded, section, table } from '../parts.ts'
import type { Billing, Credits, GracePeriod, Invoice, Policy } from '../wire.ts'
import { DESK } from '../words.ts'
import { documentTable } from './documents.ts'
import type { Known } from './known.ts'

export function billingView(policy: Policy, known: Known, signal: AbortSignal): View {
  const path = `/policy/${encodeURIComponent(policy.locator)}`
  return h(
    'div',
    {},
    loaded('grace periods', async () => {
      if (!(await permissions()).has('lapses.read')) return undefined
      return gracePeriods(await get<GracePeriod[]>(`${path}/gracePeriods`, signal))
    }),
    loaded('invoices', async () => {
      const billing = await get<Billing>(`${path}/checkInvoices`, signal)
      return [section('Invoices', invoices(billing, policy, known)), section('Planned', planned(billing))]
    }),
    section(
      'Credit of the policyholder',
      loaded('credits', async () =>
        creditView(
          await get<Credits>(
            `/policyholder/${encodeURIComponent(policy.policyholderLocator)}/credits`,
            signal,
          ),
        ),
      ),
    ),
  )
}

const gracePeriods = (periods: readonly GracePeriod[]): Child =>
  periods.length > 0 &&
  section(
    'Grace periods',
    table(
      'Grace periods',
      [
        { head: 'From', cell: one => moment(one.startTimestamp) },
        { head: 'Until', cell: one => moment(one.endTimestamp) },
        {
          head: 'Outcome',
          cell: one =>
            one.settledTimestamp
              ? badge('settled', `Settled ${day(one.settledTimestamp)}`)
              : one.cancellationLocator
                ? badge('lapsed', 'Lapsed')
                : badge('inGrace', 'Open'),
        },
      ],
      periods,
    ),
  )

function invoices({ invoices: all }: Billing, policy: Policy, known: Known): View {
  if (all.length === 0) return empty('No invoice has been made.')
  const newestFirst = all.toReversed()
  return table(
    'Invoices',
    [
      {
        head: 'Invoice',
        cell: one => [words(one.invoiceType), ' ', h('span', { class: 'soft' }, one.displayId)],
      },
      {
        head: 'State',
        cell: one => badge(one.settlementType ?? one.settlementStatus),
      },
      { head: 'Due', cell: one => dayOrMoment(one.dueTimestamp) },
      { head: 'For', cell: one => h('span', { class: 'span' }, span(one.startTimestamp, one.endTimestamp)) },
      { head: 'Total', amount: true, cell: one => money(one.totalDue, one.totalDueCurrency) },
      {
        head: 'Outstanding',
        amount: true,
        cell: one => (one.outstandingAmount ? money(one.outstandingAmount, one.totalDueCurrency) : '–'),
      },
    ],
    newestFirst,
    one => invoiceDetail(one, policy, known),
  )
}

/** A payment that stands, and that moved money. */
const isReversible = ({ reversedTimestamp, source }: Invoice['payments'][number]): boolean =>
  reversedTimestamp === undefined && source !== 'offset'

const payButton = (invoice: Invoice, policy: Policy): DeedButton => ({
  text: isNegative(invoice.outstandingAmount ?? invoice.totalDue) ? DESK.payOut : DESK.takePayment,
  permissions: ['invoices.pay'],
  open: async close => {
    const [{ Pay }, product] = await Promise.all([desk(), productOf(policy)])
    return part(Pay, { invoice, product, close })
  },
})

const reverseButton = (payment: Invoice['payments'][number]): DeedButton => ({
  text: DESK.reverse,
  permissions: ['payments.reverse'],
  open: async close => part((await desk()).Reverse, { payment, close }),
})

const invoiceDetail = (one: Invoice, policy: Policy, { names, held }: Known): Child => [
  one.settlementStatus === 'outstanding' && deedButtons([payButton(one, policy)], held),
  h('h3', { class: 'minor' }, 'Payments'),
  one.payments.length === 0
    ? empty(
        one.settlementType && one.settlementType !== 'paid'
          ? `None; ${words(one.settlementType).toLowerCase()}.`
          : 'None yet.',
      )
    : table(
        `Payments of ${one.displayId}`,
        [
          { head: 'Posted', cell: payment => moment(payment.postedTimestamp) },
          {
            head: 'From',
            cell: payment => [
              payment.source === 'credit' ? 'Credit' : isNegative(payment.amount) ? 'Paid out' : 'Received',
              payment.reversedTimestamp && [
                ' ',
                badge('reversed', `Reversed ${day(payment.reversedTimestamp)}`),
              ],
            ],
          },
          ...(held.has('payments.reverse')
            ? [
                {
                  head: DESK.actions,
                  cell: (payment: Invoice['payments'][number]) =>
                    isReversible(payment) && deedButtons([reverseButton(payment)], held),
                },
              ]
            : []),
          {
            head: 'Left as credit',
            amount: true,
            cell: payment =>
              payment.creditedAmount ? money(payment.creditedAmount, payment.amountCurrency) : '–',
          },
          { head: 'Amount', amount: true, cell: payment => money(payment.amount, payment.amountCurrency) },
        ],
        one.payments,
      ),
  h('h3', { class: 'minor' }, 'Items'),
  table(
    `Items of ${one.displayId}`,
    [
      {
        head: 'Item',
        cell: item => {
          const name = item.perilName ?? item.feeName ?? item.taxName ?? item.commissionRecipient
          return [
            words(item.type),
            name && h('span', { class: 'soft' }, ` ${names.get(name) ?? words(name)}`),
          ]
        },
      },
      {
        head: 'For',
        cell: item => h('span', { class: 'span' }, span(item.startTimestamp, item.endTimestamp)),
      },
      { head: 'Amount', amount: true, cell: item => money(item.amount, item.amountCurrency) },
    ],
    one.financialTransactions.slice(0, 500),
  ),
  one.documents.length > 0 && [
    h('h3', { class: 'minor' }, 'Documents'),
    documentTable(`Documents of ${one.displayId}`, one.documents),
  ],
  facts([
    ['Made', moment(one.createdTimestamp)],
    [
      'States',
      one.statuses.map(({ status, timestamp }) => `${words(status)} ${moment(timestamp)}`).join(' → '),
    ],
    ['Locator', h('code', {}, one.locator)],
  ]),
]

const planned = ({ futureInvoices }: Billing): View =>
  futureInvoices.length === 0
    ? empty('No invoice is planned.')
    : table(
        'Planned invoices',
        [
          { head: 'Made on', cell: one => day(one.issueTimestamp) },
          { head: 'Due', cell: one => day(one.dueTimestamp) },
          { head: 'For', cell: one => span(one.startTimestamp, one.endTimestamp) },
          {
            head: 'Total',
            amount: true,
            cell: ({ financialTransactions }) => {
              const billed = financialTransactions.filter(item => item.type !== 'commission')
              return money(sum(billed.map(item => item.amount)), billed[0]?.amountCurrency ?? 'XXX')
            },
          },
        ],
        futureInvoices,
      )

const creditView = ({ balances, movements }: Credits): Child =>
  movements.length === 0
    ? empty('None: no payment was larger than its invoice.')
    : [
        facts(
          balances.map(
            ({ amount, amountCurrency }) => ['Left to use', money(amount, amountCurrency)] as const,
          ),
        ),
        table(
          'What made and used the credit',
          [
            { head: 'Posted', cell: one => moment(one.postedTimestamp) },
            {
              head: 'What',
              cell: one => [words(one.type), one.reversedTimestamp && [' ', badge('reversed')]],
            },
            { head: 'Amount', amount: true, cell: one => change(one.amount, one.amountCurrency) },
          ],
          movements,
        ),
      ]
