// Converts an account of another system into our records: values in, values out (resources brief 9).
//
// Policies, invoices and payments that refer to one another stand or fall together. A bill is part of the history of its policies
// and cannot be added later, since a migration does not change what was migrated; an invoice without its payment would be past
// due. So what fails blocks what is linked to it, and everything else is kept. Control totals are of the whole account, which is
// then all or nothing.

import { derivedUuid, newUuid, readUuid, type Uuid } from '../../../kernel/locators.ts'
import { zero } from '../../../kernel/money.ts'
import { add, endOfDay, type Instant } from '../../../kernel/time.ts'
import { atOnce, type Steps } from '../../../kernel/turns.ts'
import { type PolicyAggregate, putRecords } from '../../../policy/records/aggregate.ts'
import { isOutstanding } from '../../../policy/records/invoice.ts'
import { changePolicyholderValues, type Policyholder } from '../../../policyholders/values.ts'
import type { Configuration } from '../../../product/configuration.ts'
import { pastDueFrom } from '../../../transactions/lapses/grace-periods.ts'
import type { AccountMigrationData, ElementMigrationRequest } from '../contract-request.ts'
import {
  Findings,
  type ItemFailure,
  type ItemKind,
  type ItemMapping,
  LISTED_KINDS,
  type MappingNode,
  Problems,
} from '../item.ts'
import {
  amountOf,
  balance,
  controlTotals,
  type PaidOut,
  payDisbursements,
  totalsOf,
} from './account/balance.ts'
import { addedParts, EarlierPolicies, type Invoices, makeInvoices, readInvoices } from './account/invoices.ts'
import { type Paid, type Payments, readPayments, recordPayments } from './account/payments.ts'
import {
  type AccountRequest,
  type AuxRow,
  accountIdOf,
  type ControlTotals,
  type ConvertContext,
  type Converted,
  type Existing,
  ORIGIN_KEY,
  originRows,
  type Work,
} from './converted.ts'
import { type ConvertedPolicy, convertPolicy, readPolicy } from './policy.ts'

/** Digit locators that converting the account takes, at most. `before`: invoices of before that it names. */
export function digitsNeeded(
  { policies, invoices, payments }: AccountRequest,
  before: Existing['invoices'] = new Map(),
): number {
  const parts = new Map([...before].map(([id, one]) => [id, one.parts.length]))
  let digits = 0
  for (const { terms } of policies) {
    const named = new Set<string>()
    digits += 2
    for (const { transactions } of terms)
      for (const { segment, installments } of transactions) {
        // Without installments it may have an invoice of nothing, whose displayId is one.
        digits +=
          (installments.length === 0 ? 3 : 2) + (segment?.rootElement ? elementsIn(segment.rootElement) : 0)
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

/** Converts the account. `supply` has the digits that it needs. A step is a transaction; its work counts elements and runs in reach. */
export function* conversionOf(request: AccountRequest, context: ConvertContext): Steps<Converted> {
  const findings = new Findings(context.failed ?? [])
  const none = zero(context.configuration.currency)
  const work: Work = { request, context, findings, warnings: new Problems(), none }
  const account = request.accountData && readPolicyholder(work, request.accountData)
  const earlier = new EarlierPolicies()
  const invoices = readInvoices(work, earlier)
  const policies = yield* readPolicies(work, invoices)
  const payments = readPayments(work, invoices)
  findings.block()
  makeInvoices(work, invoices, policies)
  const moves = balance(work, invoices, payments)
  const paid = recordPayments(work, invoices, payments, earlier)
  const paidOut = payDisbursements(work, payments, moves)
  const totals = totalsOf(work, invoices, payments, paidOut)
  controlTotals(work, totals)
  return outcomeOf(work, { account, policies, earlier, invoices, payments, paid, paidOut, totals })
}

/** The same in one go. */
export const convertAccount = (request: AccountRequest, context: ConvertContext): Converted =>
  atOnce(conversionOf(request, context))

// Items that do not fit their schema, or are blocked, are not converted, but checked, so that one attempt reports everything.
/** Every rule that an item breaks by itself. Nothing is made, and no locator of the context's supply is taken. */
export function ownProblems(request: AccountRequest, context: ConvertContext): ItemFailure[] {
  let digits = 0
  const supply = { digits: () => (digits += 1), uuid: () => newUuid(context.shard) }
  const findings = new Findings([])
  const none = zero(context.configuration.currency)
  const work: Work = { request, context: { ...context, supply }, findings, warnings: new Problems(), none }
  if (request.accountData) readPolicyholder(work, request.accountData)
  const invoices = readInvoices(work, new EarlierPolicies())
  const inherited = request.accountData?.preferences ?? context.existing?.preferences
  for (const policy of request.policies) {
    const problems = findings.of('policies', policy.id)
    linkInstallments(work, policy, invoices, problems)
    readPolicy(policy, inherited, work.context, problems, work.warnings)
  }
  readPayments(work, invoices)
  for (const disbursement of request.disbursements) amountOf(work, disbursement)
  return findings.list()
}

// The policies of an account, and which invoices their installments went on.
/** Those that hold by themselves. */
export function* readPolicies(work: Work, invoices: Invoices): Steps<Map<string, ConvertedPolicy>> {
  const { request, context, findings, warnings } = work
  const policies = new Map<string, ConvertedPolicy>()
  const inherited = request.accountData?.preferences ?? context.existing?.preferences
  for (const policy of findings.singles('policies', request.policies)) {
    const problems = findings.of('policies', policy.id)
    linkInstallments(work, policy, invoices, problems)
    const createdBy = policy.createdBy ?? request.defaultCreatedBy
    const converted = yield* convertPolicy({ ...policy, createdBy }, inherited, context, problems, warnings)
    if (converted) policies.set(policy.id, converted)
  }
  return policies
}

/** Notes which invoices the policy's installments went on; a problem where there is no such invoice. */
export function linkInstallments(
  { findings }: Work,
  policy: AccountRequest['policies'][number],
  invoices: Invoices,
  problems: Problems,
): void {
  for (const [termAt, { transactions }] of policy.terms.entries())
    for (const [at, { installments }] of transactions.entries())
      for (const [index, { id, invoiceId }] of installments.entries()) {
        if (invoiceId === undefined) continue
        if (invoices.has(invoiceId)) {
          findings.link('policies', policy.id, invoiceId)
          continue
        }
        problems.add(
          'installment',
          `${policy.id}/terms[${termAt}]/transactions[${at}]/${id ?? `installments[${index}]`}`,
          `invoiceId '${invoiceId}' must be the id of an invoice of the request, or of one that was migrated for the account before.`,
        )
      }
}

// What came of an account: its records, what its ids became, and what failed.
/** What was worked out; of what failed it may have something all the same. */
export type Worked = {
  readonly account: Policyholder | undefined
  readonly policies: ReadonlyMap<string, ConvertedPolicy>
  readonly earlier: EarlierPolicies
  readonly invoices: Invoices
  readonly payments: Payments
  readonly paid: Paid
  readonly paidOut: PaidOut
  readonly totals: ControlTotals
}

export function outcomeOf(work: Work, worked: Worked): Converted {
  const { request, context, findings, warnings } = work
  if (findings.fails('account', accountIdOf(work))) return nothing(work)
  const { account, totals } = worked
  const policies = [...worked.policies].filter(([id]) => !findings.fails('policies', id))
  return {
    account,
    policies: policies.map(([, { making }]) => withGrace(making as PolicyAggregate, context)),
    changes: worked.earlier.changes(work),
    added: addedParts(work, worked.invoices),
    auxData: [
      ...(account ? [accountOrigin(request.accountData!, context.accountLocator)] : []),
      ...policies.flatMap(([, one]) => one.auxData),
      ...paymentOrigins(worked),
      ...discardedOrigins(work, worked),
    ],
    disbursements: worked.paidOut.disbursements,
    mappings: mappingsOf(work, worked, policies),
    failures: findings.list(),
    warnings: warnings.list(),
    totals,
  }
}

/** A discarded invoice that bills nothing has no record, since it is of no policy. Auxiliary data under its locator keeps what was sent. */
const nothingBilled = ({ context: { shard, accountLocator } }: Work, id: string): Uuid =>
  derivedUuid(shard, accountLocator, 'discarded invoice', id)

/** What was said of discarded invoices that bill nothing. */
const discardedOrigins = (work: Work, { invoices }: Worked): AuxRow[] =>
  work.request.invoices.flatMap(invoice => {
    const item = invoices.get(invoice.id)
    const isNothing = item && !item.earlier && item.added.length === 0
    return isNothing && !work.findings.fails('invoices', invoice.id)
      ? originRows(nothingBilled(work, invoice.id), { ...invoice })
      : []
  })

/** A payment of several invoices is several, each with what was said of it. */
const paymentOrigins = ({ payments, paid }: Worked): AuxRow[] =>
  [...paid].flatMap(([id, locators]) => {
    const { paymentType, createdBy } = payments.get(id)!.request
    return locators.flatMap(locator => originRows(locator, { paymentType, createdBy }))
  })

function mappingsOf(
  work: Work,
  { account, invoices, paid, paidOut }: Worked,
  policies: readonly (readonly [string, ConvertedPolicy])[],
): ItemMapping[] {
  const { findings, context } = work
  return [
    ...(account ? listOf('account', accountIdOf(work), [context.accountLocator]) : []),
    ...policies.map(([, { mapping }]): ItemMapping => ({ kind: 'policies', ...mapping })),
    ...[...invoices.values()].flatMap(({ id, earlier, added }) =>
      earlier || findings.fails('invoices', id)
        ? []
        : listOf(
            'invoices',
            id,
            added.length > 0 ? added.map(part => part.invoice) : [nothingBilled(work, id)],
          ),
    ),
    ...[...paid].flatMap(([id, locators]) => listOf('payments', id, locators)),
    ...paidOut.disbursements.flatMap(one => listOf('disbursements', one.originalId, [one.locator])),
  ]
}

/** What else an item became, by its place: the first of all stands for the item itself. */
export const partNode = (originalId: string, at: number, locator: string): MappingNode => ({
  originalId: `${originalId}[${at}]`,
  locator,
})

function listOf(kind: ItemKind, originalId: string, locators: readonly string[]): ItemMapping[] {
  const [locator, ...others] = locators
  if (locator === undefined) return []
  const children = others.map((one, at) => partNode(originalId, at + 1, one))
  return [{ kind, originalId, locator, ...(children.length > 0 && { children }) }]
}

/** Nothing of an account that fails is kept; its other items wait for it. */
function nothing(work: Work): Converted {
  const { request, findings, warnings, none } = work
  const id = accountIdOf(work)
  for (const kind of LISTED_KINDS)
    for (const item of request[kind])
      if (!findings.fails(kind, item.id)) findings.wrong(kind, item.id, `blocked by ${id}`)
  return {
    account: undefined,
    policies: [],
    changes: [],
    added: [],
    auxData: [],
    disbursements: [],
    mappings: [],
    failures: findings.list(),
    warnings: warnings.list(),
    totals: { invoiced: none, paid: none, credit: none, disbursed: none },
  }
}

// Grace periods of invoices that were long past due when the account came.
//
// At the end of a grace period the policy loses its cover. If that end has already passed, the policy would lose cover that the
// other system gave, without a warning. So such an invoice gets the product's days from the migration on; others keep the rest of
// theirs.
/** The policy with an end of grace for each such invoice. */
export function withGrace(
  policy: PolicyAggregate,
  { configuration, now }: Pick<ConvertContext, 'configuration' | 'now'>,
): PolicyAggregate {
  const { productName, timeZone } = policy.policy
  const { gracePeriodDays } = configuration.products[productName]!.lapse
  if (gracePeriodDays === undefined) return policy
  const late = [...policy.invoices.values()].filter(invoice => {
    const from = isOutstanding(invoice) ? pastDueFrom(policy, invoice) : undefined
    return from !== undefined && add(from, gracePeriodDays, 'day', timeZone) <= now
  })
  if (late.length === 0) return policy
  const graceEndAt = endOfDay(add(now, gracePeriodDays, 'day', timeZone), timeZone)
  return {
    ...policy,
    invoices: putRecords(
      policy.invoices,
      late.map(invoice => ({ ...invoice, graceEndAt })),
    ),
  }
}

// The account itself, as a policyholder.
/** The account's data as values of a policyholder, with every problem. */
export const accountValues = (
  { policyholderFields, timeZone }: Pick<Configuration, 'policyholderFields' | 'timeZone'>,
  { data }: Pick<AccountMigrationData, 'data'>,
  now: Instant,
): ReturnType<typeof changePolicyholderValues> =>
  changePolicyholderValues(policyholderFields, {}, data, { completed: true, timeZone, now })

export function readPolicyholder(
  { request, context, findings }: Work,
  data: AccountMigrationData,
): Policyholder {
  const { configuration, now, accountLocator, callerLocator, supply } = context
  const { values, errors } = accountValues(configuration, data, now)
  for (const { message } of errors) findings.wrong('account', data.id, message)
  for (const message of context.disallowed ?? []) findings.wrong('account', data.id, message)
  const createdAt = data.createdAt ?? now
  const createdBy = data.createdBy ?? request.defaultCreatedBy
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

/** What the other system said of the account that the policyholder has no place for. */
export const accountOrigin = ({ data: _, ...rest }: AccountMigrationData, locator: string): AuxRow => ({
  locator,
  key: ORIGIN_KEY,
  value: JSON.stringify(rest),
})
