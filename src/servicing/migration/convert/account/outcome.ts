// What came of an account: its records, what its ids became, and what failed.
import { derivedUuid, readUuid, type Uuid } from '../../../../kernel/locators.ts'
import { add, endOfDay, type Instant } from '../../../../kernel/time.ts'
import { type PolicyAggregate, putRecords } from '../../../../policy/records/aggregate.ts'
import { isOutstanding } from '../../../../policy/records/invoice.ts'
import { changePolicyholderValues, type Policyholder } from '../../../../policyholders/values.ts'
import type { Configuration } from '../../../../product/configuration.ts'
import { pastDueFrom } from '../../../../transactions/lapses/timers.ts'
import type { AccountMigrationData } from '../../contract-request.ts'
import { type ItemKind, type ItemMapping, LISTED_KINDS, type MappingNode } from '../../item.ts'
import {
  type AuxRow,
  accountIdOf,
  type ControlTotals,
  type ConvertContext,
  type Converted,
  ORIGIN_KEY,
  originRows,
  type Work,
} from '../converted.ts'
import type { ConvertedPolicy } from '../policy.ts'
import type { PaidOut } from './balance.ts'
import { addedParts, type EarlierPolicies, type Invoices } from './invoices.ts'
import type { Paid, Payments } from './payments.ts'

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

/**
 * A discarded invoice that bills nothing has no record, since every invoice is one of a policy. Under this locator, which its mapping
 * has, is what was said of it, as auxiliary data.
 */
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

// Grace of invoices that were past due for long before the account came.
//
// A grace period begins when its invoice is due, and at its end the policy loses its cover from then on. Of an invoice whose
// grace would be over by now, that would take back cover that the other system gave, and nobody was told here that it
// might be lost. So such a one has the product's days from the day of the move. Any other has what is left of its own.
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
