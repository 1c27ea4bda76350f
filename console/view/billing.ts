// Invoices, planned invoices, payments, credits and grace periods.

import { type ActionButton, actionButtons } from '../action-buttons.ts'
import { get } from '../api.ts'
import { isNegative, sum } from '../decimal.ts'
import { type Child, h, part, type View } from '../element.ts'
import { permissions } from '../find.ts'
import { day, dayOrMoment, moment, money, signedMoney, span, words } from '../format.ts'
import { desk, productOf } from '../open-desk.ts'
import { movementOf, outcomeOf } from '../outcomes.ts'
import { badge, emptyNote, facts, firstRows, loadedSection, problemNote, section, table } from '../parts.ts'
import type { Billing, Credits, GracePeriod, Invoice, Policy } from '../wire.ts'
import { DESK } from '../words.ts'
import { documentTable } from './documents.ts'
import type { Known } from './view-input.ts'
import { VIEW } from './words.ts'

/** Loads everything before it shows anything, so that no part moves those below it. */
export const billingView = (policy: Policy, known: Known, signal: AbortSignal): View =>
  h(
    'div',
    { class: 'billing' },
    loadedSection(VIEW.loads.invoices, async () => {
      const [periods, billing, credits] = await Promise.all([
        gracePeriodsOf(policy, signal).catch((failure: unknown) => problemNote(failure)),
        billingOf(policy.locator, signal),
        creditsOf(policy, signal).catch((failure: unknown) => problemNote(failure)),
      ])
      return [
        periods,
        section(VIEW.invoices, invoices(billing, policy, known)),
        section(VIEW.planned, planned(billing)),
        section(VIEW.creditOfThePolicyholder, credits),
      ]
    }),
  )

async function gracePeriodsOf(policy: Policy, signal: AbortSignal): Promise<Child> {
  if (!(await permissions()).has('lapses.read')) return undefined
  const path = `/policy/${encodeURIComponent(policy.locator)}/gracePeriods`
  return gracePeriods(await get<GracePeriod[]>(path, signal), policy)
}

const creditsOf = async ({ policyholderLocator }: Policy, signal: AbortSignal): Promise<Child> =>
  creditView(await get<Credits>(`/policyholder/${encodeURIComponent(policyholderLocator)}/credits`, signal))

const gracePeriods = (periods: readonly GracePeriod[], { modifications }: Policy): Child =>
  periods.length > 0 &&
  section(
    VIEW.gracePeriods,
    table(
      VIEW.gracePeriods,
      [
        { head: VIEW.from, cell: one => moment(one.startTimestamp) },
        { head: VIEW.until, cell: one => moment(one.endTimestamp) },
        {
          head: VIEW.outcome,
          cell: one => {
            const outcome = outcomeOf(one, modifications)
            if (outcome === 'lapsed') return badge('lapsed', VIEW.lapsed)
            return one.settledTimestamp === undefined
              ? badge('inGrace', VIEW.open)
              : badge('settled', VIEW.settledOn(day(one.settledTimestamp)))
          },
        },
      ],
      periods,
    ),
  )

function invoices({ invoices: all }: Billing, policy: Policy, known: Known): View {
  if (all.length === 0) return emptyNote(VIEW.noInvoice)
  const newestFirst = all.toReversed()
  return table(
    VIEW.invoices,
    [
      {
        head: VIEW.invoice,
        cell: one => [words(one.invoiceType), ' ', h('span', { class: 'soft' }, one.displayId)],
      },
      {
        head: VIEW.state,
        cell: one => badge(one.settlementType ?? one.settlementStatus),
      },
      { head: VIEW.due, cell: one => dayOrMoment(one.dueTimestamp) },
      {
        head: VIEW.for,
        cell: one => h('span', { class: 'span' }, span(one.startTimestamp, one.endTimestamp)),
      },
      { head: VIEW.total, amount: true, cell: one => money(one.totalDue, one.totalDueCurrency) },
      {
        head: VIEW.outstanding,
        amount: true,
        cell: one => (one.outstandingAmount ? money(one.outstandingAmount, one.totalDueCurrency) : '–'),
      },
    ],
    newestFirst,
    one => invoiceDetail(one, policy, known),
  )
}

/** Whether the payment was not reversed and moved money. */
const isReversible = ({ reversedTimestamp, source }: Invoice['payments'][number]): boolean =>
  reversedTimestamp === undefined && source !== 'offset'

const payButton = (invoice: Invoice, policy: Policy): ActionButton => ({
  text: isNegative(invoice.outstandingAmount ?? invoice.totalDue) ? DESK.payOut : DESK.takePayment,
  permissions: ['invoices.pay'],
  open: async (close, isAnew) => {
    const [{ Pay }, product, now] = await Promise.all([
      desk(),
      productOf(policy),
      isAnew ? invoiceNow(invoice, policy) : invoice,
    ])
    return part(Pay, { invoice: now, product, close })
  },
})

const billingOf = (policyLocator: string, signal?: AbortSignal): Promise<Billing> =>
  get<Billing>(`/policy/${encodeURIComponent(policyLocator)}/checkInvoices`, signal)

/** Reads the invoice again. */
async function invoiceNow(invoice: Invoice, { locator }: Policy): Promise<Invoice> {
  const { invoices } = await billingOf(locator)
  return invoices.find(one => one.locator === invoice.locator) ?? invoice
}

const reverseButton = (payment: Invoice['payments'][number]): ActionButton => ({
  text: DESK.reverse,
  permissions: ['payments.reverse'],
  open: async close => part((await desk()).Reverse, { payment, close }),
})

/** More items of an invoice are only counted. */
const MOST_ITEMS = 500

const invoiceDetail = (one: Invoice, policy: Policy, { names, held }: Known): Child => [
  one.settlementStatus === 'outstanding' && actionButtons([payButton(one, policy)], held),
  h('h3', { class: 'minor' }, VIEW.payments),
  one.payments.length === 0
    ? emptyNote(
        one.settlementType && one.settlementType !== 'paid'
          ? VIEW.noneBut(words(one.settlementType).toLowerCase())
          : VIEW.noneYet,
      )
    : table(
        VIEW.paymentsOf(one.displayId),
        [
          { head: VIEW.posted, cell: payment => moment(payment.postedTimestamp) },
          {
            head: VIEW.from,
            cell: payment => [
              VIEW[movementOf(payment)],
              payment.reversedTimestamp && [
                ' ',
                badge('reversed', VIEW.reversedOn(day(payment.reversedTimestamp))),
              ],
            ],
          },
          ...(held.has('payments.reverse')
            ? [
                {
                  head: DESK.actions,
                  cell: (payment: Invoice['payments'][number]) =>
                    isReversible(payment) && actionButtons([reverseButton(payment)], held),
                },
              ]
            : []),
          {
            head: VIEW.leftAsCredit,
            amount: true,
            cell: payment =>
              payment.creditedAmount ? money(payment.creditedAmount, payment.amountCurrency) : '–',
          },
          { head: VIEW.amount, amount: true, cell: payment => money(payment.amount, payment.amountCurrency) },
        ],
        one.payments,
      ),
  h('h3', { class: 'minor' }, VIEW.items),
  firstRows(
    VIEW.itemsOf(one.displayId),
    [
      {
        head: VIEW.item,
        cell: item => {
          const name = item.perilName ?? item.feeName ?? item.taxName ?? item.commissionRecipient
          return [
            words(item.type),
            name && h('span', { class: 'soft' }, ` ${names.get(name) ?? words(name)}`),
          ]
        },
      },
      {
        head: VIEW.for,
        cell: item => h('span', { class: 'span' }, span(item.startTimestamp, item.endTimestamp)),
      },
      { head: VIEW.amount, amount: true, cell: item => money(item.amount, item.amountCurrency) },
    ],
    one.financialTransactions,
    MOST_ITEMS,
  ),
  one.documents.length > 0 && [
    h('h3', { class: 'minor' }, VIEW.documents),
    documentTable(VIEW.documentsOf(one.displayId), one.documents),
  ],
  facts([
    [VIEW.made, moment(one.createdTimestamp)],
    [
      VIEW.states,
      one.statuses.map(({ status, timestamp }) => `${words(status)} ${moment(timestamp)}`).join(' → '),
    ],
    [VIEW.locator, h('code', {}, one.locator)],
  ]),
]

const planned = ({ futureInvoices }: Billing): View =>
  futureInvoices.length === 0
    ? emptyNote(VIEW.noPlannedInvoice)
    : table(
        VIEW.plannedInvoices,
        [
          { head: VIEW.madeOn, cell: one => day(one.issueTimestamp) },
          { head: VIEW.due, cell: one => day(one.dueTimestamp) },
          { head: VIEW.for, cell: one => span(one.startTimestamp, one.endTimestamp) },
          {
            head: VIEW.total,
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
    ? emptyNote(VIEW.noCredit)
    : [
        facts(
          balances.map(
            ({ amount, amountCurrency }) => [VIEW.leftToUse, money(amount, amountCurrency)] as const,
          ),
        ),
        table(
          VIEW.creditMovements,
          [
            { head: VIEW.posted, cell: one => moment(one.postedTimestamp) },
            {
              head: VIEW.what,
              cell: one => [words(one.type), one.reversedTimestamp && [' ', badge('reversed')]],
            },
            { head: VIEW.amount, amount: true, cell: one => signedMoney(one.amount, one.amountCurrency) },
          ],
          movements,
        ),
      ]
