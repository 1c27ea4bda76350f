// A policy is converted with its full history or not at all (resources brief 9.2).
import { LONGEST_AUX_NAME, LONGEST_AUX_VALUE } from '../../../extension/auxdata/limits.ts'
import {
  derivedUuid,
  type LocatorSupply,
  type PolicyLocator,
  type QuoteLocator,
  supplyOf,
  type Uuid,
} from '../../../kernel/locators.ts'
import { addTo } from '../../../kernel/maps.ts'
import { isStorable } from '../../../kernel/text.ts'
import { DAY_MS, earlier, type TimeZone, timeZone as zoneNamed } from '../../../kernel/time.ts'
import type { Steps } from '../../../kernel/turns.ts'
import { POLICY_LIMITS } from '../../../policy/limits.ts'
import { noRecords, type Quote } from '../../../policy/records/aggregate.ts'
import type { PaymentScheduleType, ProductDefinition } from '../../../product/configuration.ts'
import type {
  PolicyMigrationRequest,
  Preferences,
  TermMigrationRequest,
  TransactionMigrationRequest,
} from '../contract-request.ts'
import type { MappingNode, Problems } from '../item.ts'
import { billWithoutInstallments, joinPlanned, LinesOnBills, type PlannedBills, planBills } from './bills.ts'
import { type AuxRow, type ConvertContext, ORIGIN_KEY, originRows, type Work } from './converted.ts'
import type { ReadElement } from './elements.ts'
import { keyInTerm, type ReadTransaction, readHistory } from './history.ts'
import { type Applied, applyTransaction } from './transaction/apply.ts'
import { emptyKnown, type Known, type Making } from './transaction/context.ts'

export type ConvertedPolicy = {
  readonly making: Making
  /** Installments by the ids of their invoices, in the order of the line. */
  readonly invoiced: ReadonlyMap<string, readonly Uuid[]>
  readonly mapping: MappingNode
  readonly auxData: readonly AuxRow[]
}

type ReadPolicy = {
  readonly product: ProductDefinition
  readonly timeZone: TimeZone
  readonly schedule: string
  readonly auxData: readonly Omit<AuxRow, 'locator'>[]
  readonly history: readonly ReadTransaction[]
}

/** Reads a policy and links the invoices of its installments. Returns undefined if it has a problem. */
export function readPolicy(work: Work, request: PolicyMigrationRequest): ReadPolicy | undefined {
  const { findings, warnings, context } = work
  const { configuration, now, supply } = context
  const { id, productName, timezone, currency } = request
  const problems = findings.of('policies', id)
  linkInstallments(work, request, problems)
  const wrong = (sentence: string): void => problems.add('policy', id, sentence)
  const products = configuration.products
  const product = Object.hasOwn(products, productName) ? products[productName] : undefined
  const timeZone = timezone === undefined ? configuration.timeZone : zoneNamed(timezone)
  if (!timeZone) wrong(`timezone '${timezone}' must be the IANA name of a time zone, such as Europe/Berlin.`)
  if (currency !== undefined && currency !== configuration.currency)
    wrong(`currency must be ${configuration.currency}, the currency of the tenant.`)
  if (!product) {
    wrong(
      `productName '${productName}' must be a product of the configuration: ${Object.keys(products).join(', ')}.`,
    )
    return undefined
  }
  const preferences = work.request.accountData?.preferences ?? context.existing?.preferences
  const warn = (sentence: string): void => warnings.add('policy', id, sentence)
  const schedule = scheduleOf(request, preferences, product, wrong, warn)
  const auxData = auxRowsOf(request, wrong)
  const history = readHistory(request, {
    configuration,
    product,
    now,
    supply,
    problems,
    warnings,
    currency: configuration.currency,
    timeZone: timeZone ?? configuration.timeZone,
  })
  if (history.length > POLICY_LIMITS.modifications)
    wrong(
      `terms have ${history.length} transactions; a policy can have at most ${POLICY_LIMITS.modifications}.`,
    )
  if (problems.any || history.length === 0) return undefined
  return { product, timeZone: timeZone!, schedule, auxData, history }
}

/** Adds a problem for each installment whose invoice does not exist. */
function linkInstallments(
  { findings, invoices }: Work,
  { id: policyId, terms }: PolicyMigrationRequest,
  problems: Problems,
): void {
  for (const [termAt, { transactions }] of terms.entries())
    for (const [at, { installments }] of transactions.entries())
      for (const [index, { id, invoiceId }] of installments.entries()) {
        if (invoiceId === undefined) continue
        if (invoices.has(invoiceId))
          findings.links.add({ kind: 'policies', id: policyId, invoice: invoiceId })
        else
          problems.add(
            'installment',
            `${policyId}/terms[${termAt}]/transactions[${at}]/${id ?? `installments[${index}]`}`,
            `invoiceId '${invoiceId}' must be the id of an invoice of the request, or of one that was migrated for the account before.`,
          )
      }
}

export function* convertPolicy(
  work: Work,
  request: PolicyMigrationRequest,
): Steps<ConvertedPolicy | undefined> {
  const read = readPolicy(work, request)
  if (!read) return undefined
  const { product, auxData, history } = read
  const { now, shard } = work.context
  const { making, quote, supply } = beginPolicy(read, request, work.context)
  const known = emptyKnown()
  const invoiced = new Map<string, Uuid[]>()
  const transactions = new Map<string, MappingNode[]>()
  const origins: AuxRow[] = []
  const unplanned: {
    transaction: ReadTransaction
    applied: Applied
    nothing: PlannedBills['nothing'] & {}
  }[] = []
  const lines = new LinesOnBills()
  for (const transaction of history) {
    const applied = applyTransaction({ making, quote, transaction, known, product, supply })
    const { createdBy, preferences } = transaction.request
    origins.push(...originRows(applied.modification.locator, { createdBy, preferences }))
    const planned = planBills(making, transaction, applied, { supply, now, lines })
    for (const [id, installment] of planned.invoiced) addTo(invoiced, id, installment)
    if (planned.nothing) unplanned.push({ transaction, applied, nothing: planned.nothing })
    const node = transactionNode(transaction, applied, known, planned.locators, { shard, supply })
    addTo(transactions, `terms[${transaction.termAt}]`, node)
    yield applied.work
  }
  joinPlanned(making, new Set([...invoiced.values()].flat()))
  for (const { transaction, applied, nothing } of unplanned)
    billWithoutInstallments(making, transaction, applied, nothing, supply)
  const name = String(making.policy.locator)
  return {
    making,
    invoiced,
    auxData: [...auxData.map(row => ({ ...row, locator: name })), ...origins],
    mapping: {
      originalId: request.id,
      locator: name,
      children: [...transactions].map(([originalId, children]) => ({
        originalId,
        locator: derivedUuid(shard, name, originalId),
        children,
      })),
    },
  }
}

/** Returns the policy with its accepted quote, as they are before its first transaction. */
function beginPolicy(
  { product, timeZone, schedule, history }: ReadPolicy,
  request: PolicyMigrationRequest,
  context: ConvertContext,
): { making: Making; quote: Quote; supply: LocatorSupply } {
  const { configuration, configVersion, accountLocator } = context
  const { term, request: firstRequest } = history[0]!
  const issuedAt = firstRequest.issuedTime
  const created = [request.createdAt ?? issuedAt, firstRequest.createdAt ?? issuedAt]
  const createdAt = created.reduce(earlier, issuedAt)
  const locator = context.supply.digits() as PolicyLocator
  const supply = supplyOf(locator, context.supply)
  const quote: Quote = {
    locator: supply.digits() as QuoteLocator,
    name: 'quote 1',
    state: 'accepted',
    selected: true,
    createdAt,
    updatedAt: issuedAt,
    issuedAt,
    contractStart: term.startTime,
    contractEnd: term.endTime,
    paymentScheduleName: schedule,
  }
  const making: Making = {
    ...noRecords(),
    policy: {
      locator,
      policyholderLocator: accountLocator,
      productName: product.name,
      configVersion,
      version: 0,
      createdAt,
      updatedAt: history.at(-1)!.request.issuedTime,
      finalizedAt: issuedAt,
      issuedAt,
      originalStart: term.startTime,
      originalEnd: term.endTime,
      effectiveEnd: term.endTime,
      currency: configuration.currency,
      timeZone,
      paymentScheduleName: schedule,
    },
    quotes: new Map([[quote.locator, quote]]),
  }
  return { making, quote, supply }
}

/** Returns rows for static data, auxiliary data, and properties for which Bindery's policies have no field. */
function auxRowsOf(
  request: PolicyMigrationRequest,
  wrong: (sentence: string) => void,
): Omit<AuxRow, 'locator'>[] {
  const rows = new Map<string, string>()
  const put = (where: string, key: string, value: unknown): void => {
    if (value === undefined || value === null) return
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (key === ORIGIN_KEY && where !== 'policy')
      wrong(`${where} '${key}' must have another key. This key is reserved for the properties of the policy.`)
    else if (key === '' || key.length > LONGEST_AUX_NAME)
      wrong(`${where} must have keys of 1 to ${LONGEST_AUX_NAME} characters.`)
    else if (!isStorable(key) || !isStorable(text))
      wrong(`${where} '${key.toWellFormed()}' must not contain NUL or half of a surrogate pair.`)
    else if (text.length > LONGEST_AUX_VALUE)
      wrong(`${where} '${key}' must have at most ${LONGEST_AUX_VALUE} characters.`)
    else if (rows.has(key)) wrong(`${where} '${key}' must not have the same key as another entry.`)
    else rows.set(key, text)
  }
  for (const [key, value] of Object.entries(request.staticData)) put('staticData', key, value)
  for (const { key, value } of request.auxData?.entries ?? []) put('auxData', key, value)
  const { id, createdBy, durationBasis, billingLevel } = request
  const { autoRenewalPlanName, delinquencyPlanName, preferences } = request
  put('policy', ORIGIN_KEY, {
    id,
    createdBy,
    durationBasis,
    billingLevel,
    autoRenewalPlanName,
    delinquencyPlanName,
    preferences,
  })
  return [...rows].map(([key, value]) => ({ key, value }))
}

function transactionNode(
  { tree, at, termAt, request }: ReadTransaction,
  { modification }: Applied,
  known: Known,
  installments: readonly Uuid[],
  { shard, supply }: Pick<ConvertContext, 'shard' | 'supply'>,
): MappingNode {
  const { locator } = modification
  const derived = (...names: string[]): Uuid => derivedUuid(shard, locator, ...names)
  const elementNode = (element: ReadElement): MappingNode => ({
    originalId: element.id,
    locator:
      known.exposures.get(element.id) ??
      known.perils.get(keyInTerm(termAt, element.id)) ??
      derived('element', element.id),
    children: [
      // An item has no record. Its locator occurs only here.
      ...element.charges.flatMap(charge =>
        charge.items.map(({ id }) => ({ originalId: id, locator: supply.uuid() })),
      ),
      ...element.children.flatMap(id => {
        const child = tree!.elements.get(id)
        return child ? [elementNode(child)] : []
      }),
    ],
  })
  const seen = new Set<Uuid>()
  return {
    originalId: `transactions[${at}]`,
    locator,
    children: [
      ...(tree ? [elementNode(tree.root)] : []),
      ...request.installments.map((installment, index) => {
        const own = installments[index]!
        // Installments of one invoice become one, but each id still needs its own locator.
        const isFirst = !seen.has(own)
        seen.add(own)
        const originalId = installment.id ?? `installments[${index}]`
        return { originalId, locator: isFirst ? own : derived('installment', String(index)) }
      }),
    ],
  }
}

type Cadence = NonNullable<NonNullable<Preferences['installmentPreferences']>['cadence']>

const SCHEDULES: Partial<Readonly<Record<Cadence, string>>> = {
  fullPay: 'total',
  weekly: 'every_week',
  everyOtherWeek: 'every_two_weeks',
  monthly: 'monthly',
  quarterly: 'quarterly',
  semiannually: 'semiannually',
  annually: 'annually',
}

/**
 * Returns the schedule for future bills: from the policy's preferences, else the account's (also for `inherit`, rule 12), else
 * from the due dates, else the product's first schedule. The last two come with a warning. Plans with installments keep them.
 */
function scheduleOf(
  { preferences, terms }: PolicyMigrationRequest,
  inherited: Preferences | undefined,
  { name, paymentSchedules }: ProductDefinition,
  wrong: (sentence: string) => void,
  warn: (sentence: string) => void,
): string {
  const own = preferences?.installmentPreferences
  const above = inherited?.installmentPreferences
  const scheduleNamed = (plan: string | undefined): string | undefined =>
    paymentSchedules.find(schedule => schedule.name === plan)?.name
  const scheduleOfCadence = (cadence: Cadence | undefined): string | undefined =>
    paymentSchedules.find(schedule => cadence !== undefined && schedule.type === SCHEDULES[cadence])?.name
  const plan = own?.installmentPlanName === 'inherit' ? undefined : own?.installmentPlanName
  if (plan !== undefined && scheduleNamed(plan) === undefined)
    wrong(
      `preferences.installmentPreferences.installmentPlanName '${plan}' must be a payment schedule of product '${name}': ${paymentSchedules.map(one => one.name).join(', ')}.`,
    )
  const preferred =
    scheduleNamed(plan) ??
    (own?.cadence === undefined
      ? (scheduleNamed(above?.installmentPlanName) ?? scheduleOfCadence(above?.cadence))
      : scheduleOfCadence(own.cadence))
  if (preferred !== undefined) return preferred
  const first = paymentSchedules[0]!.name
  const cadence = own?.cadence ?? above?.cadence
  if (cadence !== undefined) {
    warn(
      `Product '${name}' has no payment schedule for the cadence '${cadence}', so the policy is billed by '${first}' from now on.`,
    )
    return first
  }
  const derived = derivedCadence(terms)
  const fitting = derived?.types.flatMap(
    type => paymentSchedules.find(schedule => schedule.type === type) ?? [],
  )
  const schedule = fitting?.[0]?.name
  const reason = `No plan and no cadence is given; ${derived?.shown ?? 'its installments show none'}`
  const unfit = derived ? `, for which product '${name}' has no payment schedule` : ''
  warn(
    schedule !== undefined
      ? `${reason}, so the policy is billed by '${schedule}' from now on.`
      : `${reason}${unfit}. The policy is billed by '${first}' from now on. Send preferences.installmentPreferences if that is wrong.`,
  )
  return schedule ?? first
}

/** Days between due dates: least and most. */
const GAPS: readonly (readonly [least: number, most: number, type: PaymentScheduleType, word: string])[] = [
  [7, 7, 'every_week', 'a week'],
  [14, 14, 'every_two_weeks', 'two weeks'],
  [28, 31, 'monthly', 'a month'],
  [89, 92, 'quarterly', 'three months'],
  [181, 184, 'semiannually', 'half a year'],
  [365, 366, 'annually', 'a year'],
]

/** Rounds, since a clock change makes a day an hour shorter or longer. */
const daysBetween = (from: number, to: number): number => Math.round((to - from) / DAY_MS)

/** `shown` is a clause for the warning. */
export type DerivedCadence = { readonly types: readonly PaymentScheduleType[]; readonly shown: string }

/**
 * Returns payment schedules that fit the due dates of the last billed term. The term's first transaction decides, since changes
 * have their own dates; otherwise all dates together. A single date means payment in one sum. Undefined for irregular dates.
 */
export function derivedCadence(terms: readonly TermMigrationRequest[]): DerivedCadence | undefined {
  const billed = terms
    .map(({ transactions }) => transactions.map(datesOf).filter(dates => dates.length > 0))
    .findLast(transactions => transactions.length > 0)
  if (!billed) return undefined
  const [first] = billed
  const together = sortedDistinctDates(billed.flat())
  const found = cadenceOfDates(first!) ?? (together.length > 2 ? cadenceOfDates(together) : undefined)
  if (found || first!.length > 1) return found
  return { types: ['total', 'annually'], shown: 'its last term begins with one installment' }
}

const datesOf = ({ installments }: TransactionMigrationRequest): number[] =>
  sortedDistinctDates(installments.map(({ dueTime }) => Number(dueTime)))

const sortedDistinctDates = (dates: readonly number[]): number[] => [...new Set(dates)].sort((a, b) => a - b)

/** With more than three gaps between dates, the first and the last may be irregular. */
function cadenceOfDates(dates: readonly number[]): DerivedCadence | undefined {
  if (dates.length < 2) return undefined
  const gaps = dates.slice(1).map((date, at) => daysBetween(dates[at]!, date))
  const regular = gaps.length > 3 ? gaps.slice(1, -1) : gaps
  const found = GAPS.find(([least, most]) => regular.every(gap => gap >= least && gap <= most))
  return found && { types: [found[2]], shown: `its installments were due ${found[3]} apart` }
}
