// Converts an account of another system into Bindery's records (resources brief 9).
//
// Policies, invoices and payments that refer to each other succeed or fail together. A bill is part of the history of its policies
// and cannot be added later, since migrated records never change; an invoice without its payment would be past due. So a failing
// item blocks the items linked to it, and everything else is kept. Control totals cover the whole account, so an account with
// control totals is all or nothing.

import { derivedUuid, newUuid, readUuid, type Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { runAllSteps, type Steps } from '../../../kernel/turns.ts'
import { type PolicyAggregate, putRecords } from '../../../policy/records/aggregate.ts'
import { isOutstanding } from '../../../policy/records/invoice.ts'
import { changePolicyholderValues, type Policyholder } from '../../../policyholders/values.ts'
import type { Configuration } from '../../../product/configuration.ts'
import { graceFromNow, pastDueFrom } from '../../../transactions/lapses/grace-periods.ts'
import type { AccountMigrationData, ElementMigrationRequest } from '../contract-request.ts'
import { type ItemFailure, type ItemKind, type ItemMapping, LISTED_KINDS, type MappingNode } from '../item.ts'
import { amountOf, balanceCredit, checkControlTotals, payDisbursements, totalsOf } from './balance.ts'
import {
  type AccountRequest,
  accountIdOf,
  type ConvertContext,
  type Converted,
  type Existing,
  liveInvoices,
  newWork,
  originRows,
  type Work,
} from './converted.ts'
import { addedParts, changesOf, makeInvoices, readInvoices } from './invoices.ts'
import { readPayments, recordPayments } from './payments.ts'
import { type ConvertedPolicy, convertPolicy, readPolicy } from './policy.ts'

/** Returns the most digit locators that the conversion can take. `before` has the earlier invoices that the account names. */
export function digitsNeeded(
  { policies, invoices, payments }: AccountRequest,
  before: Existing['invoices'] = new Map(),
): number {
  const parts = new Map([...before].map(([id, one]) => [id, one.parts.length]))
  let digits = invoices.length
  for (const { terms } of policies) {
    const transactions = terms.flatMap(term => term.transactions)
    digits += 2
    // Without installments a transaction may have a zero invoice, whose displayId needs one.
    for (const { segment, installments } of transactions)
      digits +=
        (installments.length === 0 ? 3 : 2) + (segment?.rootElement ? elementsIn(segment.rootElement) : 0)
    const named = transactions.flatMap(({ installments }) =>
      installments.flatMap(installment => installment.invoiceId ?? []),
    )
    for (const id of new Set(named)) parts.set(id, (parts.get(id) ?? 0) + 1)
  }
  // Each part of an invoice has a displayId, and credit may settle it.
  for (const count of parts.values()) digits += 2 * count
  for (const { paymentItems } of payments)
    for (const { invoiceId } of paymentItems) digits += Math.max(1, parts.get(invoiceId ?? '') ?? 1)
  return digits
}

const elementsIn = ({ elements }: ElementMigrationRequest): number =>
  elements.reduce((count, one) => count + elementsIn(one), 1)

/** `supply` has the digits of `digitsNeeded`. Each step is a transaction; its work counts elements and the runs in reach. */
export function* conversionOf(request: AccountRequest, context: ConvertContext): Steps<Converted> {
  const work = newWork(request, context)
  const { findings, invoices, payments } = work
  const account = request.accountData && readPolicyholder(work, request.accountData)
  readInvoices(work)
  const policies = new Map<string, ConvertedPolicy>()
  for (const policy of findings.withoutRepeatedIds('policies', request.policies)) {
    const createdBy = policy.createdBy ?? request.defaultCreatedBy
    const converted = yield* convertPolicy(work, { ...policy, createdBy })
    if (converted) policies.set(policy.id, converted)
  }
  readPayments(work)
  findings.block()
  makeInvoices(work, policies)
  const moves = balanceCredit(work)
  const paid = recordPayments(work)
  const paidOut = payDisbursements(work, moves)
  const totals = totalsOf(work, paidOut)
  checkControlTotals(work, totals)
  if (findings.fails('account', accountIdOf(work))) return failAllItems(work)

  const { disbursements } = paidOut
  const kept = [...policies].filter(([id]) => !findings.fails('policies', id)).map(([, policy]) => policy)
  // A discarded invoice that bills nothing belongs to no policy and has no record. Auxiliary data keeps it.
  const discarded = request.invoices.filter(({ id }) => {
    const item = invoices.get(id)
    return item && !item.earlier && item.added.length === 0 && !findings.fails('invoices', id)
  })
  return {
    account,
    policies: kept.map(({ making }) => extendGrace(making as PolicyAggregate, context)),
    changes: changesOf(work),
    added: addedParts(work),
    auxData: [
      ...(account ? originRows(context.accountLocator, { ...request.accountData, data: undefined }) : []),
      ...kept.flatMap(({ auxData }) => auxData),
      // A payment of several invoices becomes several payments, each with the original data.
      ...[...paid].flatMap(([id, locators]) => {
        const { paymentType, createdBy } = payments.get(id)!.request
        return locators.flatMap(locator => originRows(locator, { paymentType, createdBy }))
      }),
      ...discarded.flatMap(invoice => originRows(discardedLocator(work, invoice.id), { ...invoice })),
    ],
    disbursements,
    mappings: [
      ...(account ? mappingOf('account', accountIdOf(work), [context.accountLocator]) : []),
      ...kept.map(({ mapping }): ItemMapping => ({ kind: 'policies', ...mapping })),
      ...liveInvoices(work).flatMap(({ id, earlier, added }) => {
        const locators = added.length > 0 ? added.map(part => part.invoice) : [discardedLocator(work, id)]
        return earlier ? [] : mappingOf('invoices', id, locators)
      }),
      ...[...paid].flatMap(([id, locators]) => mappingOf('payments', id, locators)),
      ...disbursements.flatMap(disbursement =>
        mappingOf('disbursements', disbursement.originalId, [disbursement.locator]),
      ),
    ],
    failures: findings.list(),
    warnings: work.warnings.list(),
    totals,
  }
}

/** Runs the whole conversion without pauses. */
export const convertAccount = (request: AccountRequest, context: ConvertContext): Converted =>
  runAllSteps(conversionOf(request, context))

/** Checks failing items without converting them, so that one attempt reports every problem. Takes no locators from the supply. */
export function findItemProblems(request: AccountRequest, context: ConvertContext): ItemFailure[] {
  let digits = 0
  const supply = { digits: () => (digits += 1), uuid: () => newUuid(context.shard) }
  const work = newWork(request, { ...context, supply, failed: [] })
  if (request.accountData) readPolicyholder(work, request.accountData)
  readInvoices(work)
  for (const policy of request.policies) readPolicy(work, policy)
  readPayments(work)
  for (const disbursement of request.disbursements) amountOf(work, disbursement)
  return work.findings.list()
}

/** Returns the locator of a discarded invoice that bills nothing. */
const discardedLocator = ({ context: { shard, accountLocator } }: Work, id: string): Uuid =>
  derivedUuid(shard, accountLocator, 'discarded invoice', id)

/** Returns the node of a further record of an item. The first record represents the item itself. */
export const partNode = (originalId: string, at: number, locator: string): MappingNode => ({
  originalId: `${originalId}[${at}]`,
  locator,
})

function mappingOf(kind: ItemKind, originalId: string, locators: readonly string[]): ItemMapping[] {
  const [locator, ...others] = locators
  if (locator === undefined) return []
  const children = others.map((one, at) => partNode(originalId, at + 1, one))
  return [{ kind, originalId, locator, ...(children.length > 0 && { children }) }]
}

/** Fails every item. A failing account keeps nothing and blocks its other items. */
function failAllItems(work: Work): Converted {
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

/**
 * Extends the grace of outstanding invoices. At the end of a grace period the policy loses its cover. If that end has already
 * passed, the policy would lose cover that the other system gave, without a warning. So the invoice gets the product's grace days
 * counted from the migration; other invoices keep the rest of theirs.
 */
function extendGrace(
  policy: PolicyAggregate,
  { configuration, now }: Pick<ConvertContext, 'configuration' | 'now'>,
): PolicyAggregate {
  const { productName, timeZone } = policy.policy
  const { gracePeriodDays } = configuration.products[productName]!.lapse
  if (gracePeriodDays === undefined) return policy
  const changed = [...policy.invoices.values()].flatMap(invoice => {
    const from = isOutstanding(invoice) ? pastDueFrom(policy, invoice) : undefined
    const graceEndAt = from === undefined ? undefined : graceFromNow(from, gracePeriodDays, now, timeZone)
    return graceEndAt === undefined ? [] : [{ ...invoice, graceEndAt }]
  })
  return changed.length === 0 ? policy : { ...policy, invoices: putRecords(policy.invoices, changed) }
}

/** Reads the account's data as values of a policyholder, with every problem. */
export const accountValues = (
  { policyholderFields, timeZone }: Pick<Configuration, 'policyholderFields' | 'timeZone'>,
  { data }: Pick<AccountMigrationData, 'data'>,
  now: Instant,
): ReturnType<typeof changePolicyholderValues> =>
  changePolicyholderValues(policyholderFields, {}, data, { completed: true, timeZone, now })

function readPolicyholder({ request, context, findings }: Work, data: AccountMigrationData): Policyholder {
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
