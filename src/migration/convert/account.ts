// An account as another system has it, as the records that we have of the same: values in, values out (resources brief 9).
//
// Policies, invoices and payments that refer to one another stand or fall together: a bill is a part of the history of the
// policies that it bills, and could not be added to them later, since what is migrated is not altered by migration. So
// what fails takes along what hangs together with it, which is reported as blocked by it; all else is kept. With control
// totals an account is all or nothing, since they are of the whole of it.
import { totalsDueOf } from '../../billing/bill.ts'
import { paymentFieldValues } from '../../billing/payments/field-values.ts'
import { Refusal } from '../../platform/errors.ts'
import { readUuid, type Uuid } from '../../platform/locators.ts'
import { exactMoney, type Money, minus, negated, plus, sum, toText, zero } from '../../platform/money.ts'
import { type Instant, timeZone as zoneNamed } from '../../platform/time.ts'
import type { PolicyAggregate } from '../../policies/aggregate.ts'
import type { Policyholder } from '../../policyholders/policyholder.ts'
import { changePolicyholderValues } from '../../policyholders/values.ts'
import type {
  AccountMigrationData,
  AccountMigrationRequest,
  DisbursementMigrationRequest,
  ElementMigrationRequest,
  InvoiceMigrationRequest,
  MigrationRequest,
  PaymentMigrationRequest,
} from '../contract-request.ts'
import type { ItemFailure, ItemKind, ItemMapping } from '../item.ts'
import { invoiceInstallmentsOf, keepOpposites } from './bills.ts'
import type { AuxRow, ControlTotals, ConvertContext, Converted, ConvertedDisbursement } from './converted.ts'
import {
  type CreditMove,
  creditAt,
  type Part,
  receive,
  receiveCredit,
  settle,
  totalOf,
} from './money-moves.ts'
import { ORIGIN_KEY, originRows } from './origin.ts'
import { type ConvertedPolicy, convertPolicy } from './policy.ts'
import { type ElementType, Problems } from './problems.ts'

export type AccountRequest = MigrationRequest & Partial<Pick<AccountMigrationRequest, 'accountData'>>

/** Digit locators that converting the account takes, at most. */
export function digitsNeeded({ policies, invoices, payments }: AccountRequest): number {
  const parts = new Map<string, number>()
  let digits = 0
  for (const { terms } of policies) {
    const named = new Set<string>()
    digits += 2
    for (const { transactions } of terms)
      for (const { segment, installments } of transactions) {
        digits += 2 + (segment?.rootElement ? elementsIn(segment.rootElement) : 0)
        for (const { invoiceId } of installments) if (invoiceId !== undefined) named.add(invoiceId)
      }
    for (const id of named) parts.set(id, (parts.get(id) ?? 0) + 1)
  }
  // Each part of an invoice has a displayId, and may be settled by credit.
  for (const count of parts.values()) digits += 2 * count
  for (const { paymentItems } of payments)
    for (const { invoiceId } of paymentItems) digits += Math.max(1, parts.get(invoiceId ?? '') ?? 1)
  return digits + invoices.length
}

const elementsIn = ({ elements }: ElementMigrationRequest): number =>
  elements.reduce((count, one) => count + elementsIn(one), 1)

/** Carries the account over: what of it holds, and why the rest does not. `supply` has the digits that it needs. */
export function convertAccount(request: AccountRequest, context: ConvertContext): Converted {
  return new Conversion(request, context).convert()
}

type InvoiceItem = {
  readonly request: InvoiceMigrationRequest
  /** Once its policies stand. */
  parts: Part[]
  total: Money
  /** Sum of the items of payments. */
  paid: Money
}

type PaymentItem = {
  readonly request: PaymentMigrationRequest
  readonly byInvoice: ReadonlyMap<string, Money>
  readonly credit: Money
  readonly fieldValues: Record<string, string[]>
}

const ELEMENT_OF: Readonly<Record<ItemKind, ElementType>> = {
  account: 'account',
  policies: 'policy',
  invoices: 'invoice',
  payments: 'payment',
  disbursements: 'disbursement',
}

class Conversion {
  readonly #request: AccountRequest
  readonly #context: ConvertContext
  readonly #none: Money
  readonly #problems = new Map<string, { kind: ItemKind; id: string; problems: Problems }>()
  readonly #warnings = new Problems()
  readonly #policies = new Map<string, ConvertedPolicy>()
  readonly #invoices = new Map<string, InvoiceItem>()
  readonly #payments = new Map<string, PaymentItem>()
  readonly #disbursements: ConvertedDisbursement[] = []
  /** Which invoices an item hangs together with. */
  readonly #links: { kind: 'policies' | 'payments'; id: string; invoice: string }[] = []
  readonly #paid = new Map<string, Uuid[]>()
  #moves: CreditMove[] = []

  constructor(request: AccountRequest, context: ConvertContext) {
    this.#request = request
    this.#context = context
    this.#none = zero(context.configuration.currency)
  }

  convert(): Converted {
    const { accountData, policies, invoices, payments, disbursements } = this.#request
    const account = accountData && this.#account(accountData)
    this.#readInvoices(invoices)
    this.#readPolicies(policies)
    this.#readPayments(payments)
    this.#block()
    this.#makeInvoices()
    this.#balance()
    this.#payDisbursements(disbursements)
    const totals = this.#totals()
    this.#control(totals)
    return this.#converted(account, totals)
  }

  // ------------------------------------------------------------------------------------------- failures

  #of(kind: ItemKind, id: string): Problems {
    const key = `${kind} ${id}`
    const found = this.#problems.get(key)?.problems
    if (found) return found
    const problems = new Problems()
    this.#problems.set(key, { kind, id, problems })
    return problems
  }

  #wrong(kind: ItemKind, id: string, sentence: string): void {
    this.#of(kind, id).add(ELEMENT_OF[kind], id, sentence)
  }

  #fails(kind: ItemKind, id: string): boolean {
    return this.#problems.get(`${kind} ${id}`)?.problems.any ?? false
  }

  get #accountId(): string {
    return this.#request.accountData?.id ?? this.#context.accountLocator
  }

  /** Takes along what hangs together with what fails; whether anything more fails now. */
  #block(): boolean {
    let more = false
    for (let again = true; again; ) {
      again = false
      for (const { kind, id, invoice } of this.#links) {
        const [one, other] = [this.#fails(kind, id), this.#fails('invoices', invoice)]
        if (one === other || !this.#invoices.has(invoice)) continue
        if (one) this.#wrong('invoices', invoice, `blocked by ${id}`)
        else this.#wrong(kind, id, `blocked by ${invoice}`)
        again = true
        more = true
      }
    }
    return more
  }

  #isSingle<T extends { id: string }>(kind: ItemKind, list: readonly T[]): T[] {
    const seen = new Set<string>()
    return list.filter(({ id }) => {
      if (!seen.has(id)) return Boolean(seen.add(id))
      this.#wrong(kind, id, `id '${id}' must be that of one ${ELEMENT_OF[kind]} of the account only.`)
      return false
    })
  }

  // ------------------------------------------------------------------------------------------- what was sent

  #account(data: AccountMigrationData): Policyholder {
    const { configuration, now, accountLocator, callerLocator, supply } = this.#context
    const { policyholderFields, timeZone } = configuration
    const { values, errors } = changePolicyholderValues(policyholderFields, {}, data.data, {
      completed: true,
      timeZone,
      now,
    })
    for (const { message } of errors) this.#wrong('account', data.id, message)
    const createdAt = data.createdAt ?? now
    const createdBy = data.createdBy ?? this.#request.defaultCreatedBy
    return {
      locator: accountLocator,
      version: 1,
      completed: true,
      accountLocator: (createdBy && readUuid(createdBy)) || callerLocator,
      entity: { locator: supply.uuid(), values, subEntities: [] },
      createdAt,
      updatedAt: createdAt,
    }
  }

  #readInvoices(requests: readonly InvoiceMigrationRequest[]): void {
    for (const request of this.#isSingle('invoices', requests)) {
      const { id, currency, timezone, startTime, endTime, generateTime, dueTime } = request
      this.#invoices.set(id, { request, parts: [], total: this.#none, paid: this.#none })
      this.#assertCurrency('invoices', id, currency)
      if (timezone !== undefined && !zoneNamed(timezone))
        this.#wrong('invoices', id, 'timezone must be the IANA name of a time zone, as Europe/Berlin.')
      if (startTime > endTime) this.#wrong('invoices', id, 'startTime must not lie after endTime.')
      if (generateTime !== undefined && generateTime > dueTime)
        this.#warnings.add('invoice', id, 'generateTime lies after dueTime.')
    }
  }

  #assertCurrency(kind: ItemKind, id: string, currency: string | undefined): void {
    const own = this.#context.configuration.currency
    if (currency !== undefined && currency !== own)
      this.#wrong(kind, id, `currency must be ${own}, the currency of the tenant.`)
  }

  #readPolicies(requests: AccountRequest['policies']): void {
    for (const request of this.#isSingle('policies', requests)) {
      const problems = this.#of('policies', request.id)
      for (const [termAt, { transactions }] of request.terms.entries())
        for (const [at, { installments }] of transactions.entries())
          for (const [index, { id, invoiceId }] of installments.entries()) {
            if (invoiceId === undefined) continue
            if (this.#invoices.has(invoiceId)) {
              this.#links.push({ kind: 'policies', id: request.id, invoice: invoiceId })
              continue
            }
            problems.add(
              'installment',
              `${request.id}/terms[${termAt}]/transactions[${at}]/${id ?? `installments[${index}]`}`,
              `invoiceId '${invoiceId}' must be the id of an invoice of the request.`,
            )
          }
      const createdBy = request.createdBy ?? this.#request.defaultCreatedBy
      const policy = convertPolicy({ ...request, createdBy }, this.#context, problems, this.#warnings)
      if (policy) this.#policies.set(request.id, policy)
    }
  }

  #readPayments(requests: readonly PaymentMigrationRequest[]): void {
    const { currency } = this.#context.configuration
    for (const request of this.#isSingle('payments', requests)) {
      const { id, paymentItems } = request
      this.#assertCurrency('payments', id, request.currency)
      if (paymentItems.length === 0) this.#wrong('payments', id, 'paymentItems must have at least one item.')
      const byInvoice = new Map<string, Money>()
      let credit = this.#none
      for (const [at, { amount: text, invoiceId }] of paymentItems.entries()) {
        const amount = exactMoney(text, currency)
        const wrong = (rule: string): void => this.#wrong('payments', id, `paymentItems[${at}].${rule}`)
        if (!amount) wrong(`amount ${text} must have no more decimal places than ${currency} has.`)
        else if (invoiceId === undefined) {
          if (amount.minor < 0) wrong('amount must not lie below zero: what no invoice asks for is credit.')
          credit = plus(credit, amount)
        } else if (!this.#invoices.has(invoiceId))
          wrong(`invoiceId '${invoiceId}' must be the id of an invoice of the request.`)
        else {
          byInvoice.set(invoiceId, plus(byInvoice.get(invoiceId) ?? this.#none, amount))
          this.#links.push({ kind: 'payments', id, invoice: invoiceId })
        }
      }
      this.#payments.set(id, { request, byInvoice, credit, fieldValues: this.#paymentData(request) })
    }
  }

  #paymentData({ id, data, paymentTime }: PaymentMigrationRequest): Record<string, string[]> {
    const { configuration } = this.#context
    try {
      return paymentFieldValues(configuration, data, configuration.timeZone, paymentTime)
    } catch (problem) {
      if (!(problem instanceof Refusal)) throw problem
      this.#wrong('payments', id, problem.message)
      return {}
    }
  }

  // ------------------------------------------------------------------------------------------- bills

  #makeInvoices(): void {
    const { supply, configuration } = this.#context
    for (const [id, item] of this.#invoices) {
      if (this.#fails('invoices', id)) continue
      item.parts = [...this.#policies.values()].flatMap(({ making, invoiced }): Part[] => {
        const installments = invoiced.get(id)
        if (!installments) return []
        return [
          {
            ...{ making, due: this.#none },
            invoice: invoiceInstallmentsOf(making, item.request, installments, supply).locator,
          },
        ]
      })
      if (item.parts.length === 0)
        this.#wrong('invoices', id, 'id must be the invoiceId of an installment: the invoice bills nothing.')
    }
    this.#block()
    for (const [id, { making }] of this.#policies)
      if (!this.#fails('policies', id)) keepOpposites(making, supply)
    // Of each policy once, since what one invoice asks for takes a look at all of its modification's.
    const dueOf = new Map(
      [...this.#policies.values()].map(({ making }) => [making, totalsDueOf(making)] as const),
    )
    for (const [id, item] of this.#invoices) {
      if (this.#fails('invoices', id)) continue
      item.parts = item.parts.map(part => ({
        ...part,
        due: dueOf.get(part.making)!(part.making.invoices.get(part.invoice)!),
      }))
      item.total = totalOf(item.parts, configuration.currency)
    }
  }

  /** Rules 8 and 9, over what is left; what fails takes along more, until the rest holds. */
  #balance(): void {
    for (let found = true; found; ) {
      this.#tally()
      found = this.#checkStates()
      found = this.#block() || found
    }
    this.#apply()
  }

  #tally(): void {
    for (const item of this.#invoices.values()) item.paid = this.#none
    for (const [id, { byInvoice }] of this.#payments)
      if (!this.#fails('payments', id))
        for (const [invoice, amount] of byInvoice) {
          const item = this.#invoices.get(invoice)!
          item.paid = plus(item.paid, amount)
        }
  }

  /** Whether an invoice is found to fail. The first pass looks at each by itself, the next at what credit has to cover. */
  #checkStates(): boolean {
    const live = [...this.#invoices].filter(([id]) => !this.#fails('invoices', id))
    const homeless = [...this.#payments].filter(
      ([id, { byInvoice, credit }]) =>
        live.length === 0 && byInvoice.size === 0 && credit.minor > 0 && !this.#fails('payments', id),
    )
    for (const [id] of homeless)
      this.#wrong(
        'payments',
        id,
        'paymentItems without invoiceId must stand in an account with an invoice: credit is kept with its last one.',
      )
    if (homeless.length > 0) return true
    for (const [id, { request, total, paid }] of live) {
      const rest = minus(total, paid)
      const isOver = rest.minor !== 0 && Math.sign(rest.minor) !== Math.sign(total.minor)
      const [asked, got] = [toText(total), toText(paid)]
      if (isOver)
        this.#wrong(
          'invoices',
          id,
          `payments of ${got} must not be more than the invoice asks for, ${asked}.`,
        )
      else if (request.invoiceState === 'discarded' && paid.minor !== 0)
        this.#wrong('invoices', id, `invoiceState discarded must have no payments; it has ${got}.`)
      else if (request.invoiceState === 'open' && rest.minor === 0 && total.minor !== 0)
        this.#wrong(
          'invoices',
          id,
          `invoiceState open must have payments of less than its total ${asked}; it is paid.`,
        )
    }
    if (live.some(([id]) => this.#fails('invoices', id))) return true
    this.#moves = this.#received()
    let left = this.#creditLeft()
    const short = live
      .filter(
        ([, { request, total, paid }]) =>
          request.invoiceState === 'settled' && minus(total, paid).minor !== 0,
      )
      .sort(
        ([, a], [, b]) =>
          (a.total.minor < 0 ? 0 : 1) - (b.total.minor < 0 ? 0 : 1) || madeAt(a.request) - madeAt(b.request),
      )
    for (const [id, { request, total, paid }] of short) {
      const rest = minus(total, paid)
      left = minus(left, rest)
      if (left.minor < 0) {
        this.#wrong(
          'invoices',
          id,
          `invoiceState settled must have payments and credit of its total ${toText(total)}; it has payments of ${toText(paid)}, and a credit of ${toText(plus(left, rest))} is left.`,
        )
        return true
      }
      this.#moves.push({ at: madeAt(request), by: negated(rest) })
    }
    return false
  }

  /** What payments bring that no invoice asks for. */
  #received(): CreditMove[] {
    return [...this.#payments.values()]
      .filter(({ request, credit }) => credit.minor > 0 && !this.#fails('payments', request.id))
      .map(({ request, credit }) => ({ at: request.paymentTime, by: credit }))
  }

  #creditLeft(): Money {
    return this.#moves.reduce((all, { by }) => plus(all, by), this.#context.existing?.credit ?? this.#none)
  }

  /** Payments and settlements, as records. */
  #apply(): void {
    const { accountLocator, supply } = this.#context
    const live = [...this.#invoices.values()].filter(({ request }) => !this.#fails('invoices', request.id))
    const last = live.reduce<InvoiceItem | undefined>(
      (found, one) => (found && madeAt(found.request) > madeAt(one.request) ? found : one),
      undefined,
    )
    const payments = [...this.#payments.values()].sort(
      (a, b) => a.request.paymentTime - b.request.paymentTime,
    )
    for (const { request, byInvoice, credit, fieldValues } of payments) {
      const { id, paymentTime: at } = request
      if (this.#fails('payments', id)) continue
      const made: Uuid[] = []
      // A payment of more than an invoice asked for, as a live one is; beside a refund or nothing, a payment of its own.
      const overpaid = [...byInvoice].findLast(([, amount]) => amount.minor > 0)?.[0]
      for (const [invoice, amount] of byInvoice) {
        const { parts } = this.#invoices.get(invoice)!
        const terms = { amount, at, fieldValues, source: 'received' as const }
        const more = invoice === overpaid && credit.minor > 0 && { credited: credit }
        made.push(...receive(parts, { ...terms, ...more }, accountLocator, supply))
      }
      if (credit.minor > 0 && overpaid === undefined) {
        const [own] = byInvoice.keys()
        const { parts } = own === undefined ? last! : this.#invoices.get(own)!
        const terms = { amount: credit, at, fieldValues }
        made.push(receiveCredit(parts[0]!, terms, accountLocator, supply))
      }
      this.#paid.set(id, made)
    }
    for (const { request, parts, total, paid } of live) {
      const rest = minus(total, paid)
      if (request.invoiceState === 'settled' && rest.minor !== 0)
        receive(
          parts,
          { amount: rest, at: madeAt(request), fieldValues: {}, source: 'credit' },
          accountLocator,
          supply,
        )
      if (request.invoiceState === 'discarded') settle(parts, 'writtenOff')
      else if (request.invoiceState === 'settled' || rest.minor === 0) settle(parts, 'paid')
    }
  }

  #payDisbursements(requests: readonly DisbursementMigrationRequest[]): void {
    const { configuration, existing, supply } = this.#context
    const { currency } = configuration
    const had: CreditMove[] = existing
      ? [{ at: Number.NEGATIVE_INFINITY as Instant, by: existing.credit }]
      : []
    const failed = [...this.#payments.keys()].find(id => this.#fails('payments', id))
    const ordered = this.#isSingle('disbursements', requests).sort(
      (a, b) => a.disbursementTime - b.disbursementTime,
    )
    for (const { id, sources, disbursementTime: at, disbursementType, data, currency: own } of ordered) {
      this.#assertCurrency('disbursements', id, own)
      const amounts = sources.map(({ amount }, index) => {
        const exact = exactMoney(amount, currency)
        const wrong = (rule: string): void =>
          this.#wrong('disbursements', id, `sources[${index}].amount ${rule}`)
        if (!exact) wrong(`${amount} must have no more decimal places than ${currency} has.`)
        else if (exact.minor <= 0) wrong('must lie above zero.')
        return exact ?? this.#none
      })
      if (sources.length === 0) this.#wrong('disbursements', id, 'sources must have at least one source.')
      const amount = sum(amounts, currency)
      const available = creditAt([...had, ...this.#moves], at, currency)
      const isLeft = creditAt([...had, ...this.#moves], Number.POSITIVE_INFINITY as Instant, currency)
      if (!this.#fails('disbursements', id) && amount.minor > Math.min(available.minor, isLeft.minor))
        this.#wrong(
          'disbursements',
          id,
          failed === undefined
            ? `sources of ${toText(amount)} must not be more than the credit at that time, ${toText(available)}.`
            : `blocked by ${failed}`,
        )
      if (this.#fails('disbursements', id)) continue
      this.#moves.push({ at, by: negated(amount) })
      this.#disbursements.push({
        locator: supply.uuid(),
        originalId: id,
        type: disbursementType ?? '',
        ...{ amount, at, data },
      })
    }
  }

  // ------------------------------------------------------------------------------------------- totals

  #totals(): ControlTotals {
    const { currency } = this.#context.configuration
    const invoices = [...this.#invoices].filter(([id]) => !this.#fails('invoices', id))
    const payments = [...this.#payments].filter(([id]) => !this.#fails('payments', id))
    return {
      invoiced: sum(
        invoices.flatMap(([, { request, total }]) => (request.invoiceState === 'discarded' ? [] : [total])),
        currency,
      ),
      paid: sum(
        payments.flatMap(([, { byInvoice, credit }]) => [...byInvoice.values(), credit]),
        currency,
      ),
      credit: this.#creditLeft(),
      disbursed: sum(
        this.#disbursements.map(one => one.amount),
        currency,
      ),
    }
  }

  /** Rule 10. What the other system says that there is, and is not, fails the account: nothing of it is kept. */
  #control(totals: ControlTotals): void {
    const told = this.#request.accounting?.originalAccountBalances
    if (!told) return
    const failed = this.#failures()[0]
    if (failed) {
      this.#wrong('account', this.#accountId, `blocked by ${failed.originalId}`)
      return
    }
    const { currency } = this.#context.configuration
    for (const [name, text] of Object.entries(told)) {
      const own = Object.hasOwn(totals, name) ? totals[name as keyof ControlTotals] : undefined
      const place = `accounting.originalAccountBalances.${name}`
      if (!own)
        this.#wrong('account', this.#accountId, `${place} must be one of ${Object.keys(totals).join(', ')}.`)
      else if (exactMoney(text, currency)?.minor !== own.minor)
        this.#wrong(
          'account',
          this.#accountId,
          `${place} is ${text}, but what was sent comes to ${toText(own)} ${currency}.`,
        )
    }
  }

  // ------------------------------------------------------------------------------------------- what came of it

  #failures(): ItemFailure[] {
    return [...this.#problems.values()]
      .filter(({ problems }) => problems.any)
      .map(({ kind, id, problems }) => ({ kind, originalId: id, problems: problems.list() }))
  }

  #converted(account: Policyholder | undefined, totals: ControlTotals): Converted {
    const id = this.#accountId
    if (this.#fails('account', id)) return this.#nothing(id)
    const { accountLocator } = this.#context
    const policies = [...this.#policies].filter(([one]) => !this.#fails('policies', one))
    const origin = account && originOf(this.#request.accountData!, accountLocator)
    return {
      account,
      policies: policies.map(([, { making }]) => making as PolicyAggregate),
      auxData: [
        ...(origin ? [origin] : []),
        ...policies.flatMap(([, one]) => one.auxData),
        ...this.#paymentOrigins(),
      ],
      disbursements: this.#disbursements,
      mappings: this.#mappings(account !== undefined, policies),
      failures: this.#failures(),
      warnings: this.#warnings.list(),
      totals,
    }
  }

  /** A payment of several invoices is several, each with what was said of it. */
  #paymentOrigins(): AuxRow[] {
    return [...this.#paid].flatMap(([id, locators]) => {
      const { paymentType, createdBy } = this.#payments.get(id)!.request
      return locators.flatMap(locator => originRows(locator, { paymentType, createdBy }))
    })
  }

  #mappings(isNew: boolean, policies: readonly (readonly [string, ConvertedPolicy])[]): ItemMapping[] {
    const listOf = (kind: ItemKind, originalId: string, locators: readonly string[]): ItemMapping[] => {
      const [locator, ...others] = locators
      if (locator === undefined) return []
      const children = others.map(one => ({ originalId, locator: one }))
      return [{ kind, originalId, locator, ...(children.length > 0 && { children }) }]
    }
    const { accountLocator } = this.#context
    return [
      ...(isNew ? listOf('account', this.#accountId, [accountLocator]) : []),
      ...policies.map(([, { mapping }]): ItemMapping => ({ kind: 'policies', ...mapping })),
      ...[...this.#invoices].flatMap(([id, { parts }]) =>
        this.#fails('invoices', id)
          ? []
          : listOf(
              'invoices',
              id,
              parts.map(part => part.invoice),
            ),
      ),
      ...[...this.#paid].flatMap(([id, locators]) =>
        this.#fails('payments', id) ? [] : listOf('payments', id, locators),
      ),
      ...this.#disbursements.flatMap(one => listOf('disbursements', one.originalId, [one.locator])),
    ]
  }

  /** Nothing of an account that fails is kept; its other items wait for it. */
  #nothing(id: string): Converted {
    const { policies, invoices, payments, disbursements } = this.#request
    for (const [kind, list] of Object.entries({ policies, invoices, payments, disbursements }))
      for (const item of list)
        if (!this.#fails(kind as ItemKind, item.id))
          this.#wrong(kind as ItemKind, item.id, `blocked by ${id}`)
    const none = this.#none
    return {
      account: undefined,
      policies: [],
      auxData: [],
      disbursements: [],
      mappings: [],
      failures: this.#failures(),
      warnings: this.#warnings.list(),
      totals: { invoiced: none, paid: none, credit: none, disbursed: none },
    }
  }
}

const madeAt = ({ generateTime, startTime }: InvoiceMigrationRequest): Instant => generateTime ?? startTime

/** What the other system said of the account that the policyholder has no place for. */
const originOf = ({ data: _, ...rest }: AccountMigrationData, locator: string): AuxRow => ({
  locator,
  key: ORIGIN_KEY,
  value: JSON.stringify(rest),
})
