// Invariants of every policy under any faults: its commits are whole and counted, its segments do not overlap, its money adds up.
import { restDue, totalsDueOf } from '../../../src/policy/bills/amounts-due.ts'
import { isStanding, lineOf, segmentsInForce } from '../../../src/policy/fold/line.ts'
import { policyResponse, policyView } from '../../../src/policy/projection/policy.ts'
import { boundQuote, type PolicyAggregate } from '../../../src/policy/records/aggregate.ts'
import { invoiceStatus } from '../../../src/policy/records/invoice.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import { policyPriceResponse } from '../../../src/rating/price.ts'
import type { Story } from '../../support/policy-story.ts'
import { billed, modificationsAddUp, recordedChangesAddUp } from '../../support/story-checks.ts'
import type { Contents, Kept } from '../contents.ts'
import type { Check, Violation } from '../violation.ts'

const DOCUMENTS_MADE = ['document.ready', 'document.failed']

/**
 * Checks that each commit of a policy raised its version by one (from 0 for a migrated policy) and has a row in `write`. A commit
 * that records finished documents has no such row, but has their events.
 */
function* versions({ rows }: Contents): Generator<Violation> {
  const written = new Map<string, number>()
  const count = (policy: string): unknown => written.set(policy, (written.get(policy) ?? 0) + 1)
  for (const { subject } of rows.write ?? []) count(String(subject).split('/')[0]!)
  const made = (rows.event ?? []).filter(({ type }) => DOCUMENTS_MADE.includes(String(type)))
  const requests = new Map(made.map(event => [String(event.request_id), String(event.policy_locator)]))
  for (const policy of requests.values()) count(policy)
  for (const { locator, version } of rows.policy ?? []) {
    const times = written.get(String(locator)) ?? 0
    if (times !== version)
      yield {
        check: 'version',
        policy: String(locator),
        says: `It is at version ${version}, and was written ${times} times.`,
      }
  }
}

/** References of rows to a record that must exist. */
export const BELONGS: readonly [table: string, column: string, owner: string][] = [
  ['quote', 'policy_locator', 'policy'],
  ['modification', 'policy_locator', 'policy'],
  ['policy_segment', 'made_by', 'modification'],
  ['exposure', 'quote_locator', 'quote'],
  ['exposure_run', 'exposure_locator', 'exposure'],
  ['exposure_run', 'made_by', 'modification'],
  ['peril', 'exposure_locator', 'exposure'],
  ['peril_run', 'peril_locator', 'peril'],
  ['peril_run', 'made_by', 'modification'],
  ['fee', 'made_by', 'modification'],
  ['installment', 'modification_locator', 'modification'],
  ['invoice', 'policy_modification_locator', 'modification'],
  ['payment', 'invoice_locator', 'invoice'],
  ['endorsement', 'modification_locator', 'modification'],
  ['cancellation', 'modification_locator', 'modification'],
  ['reinstatement', 'cancellation_locator', 'cancellation'],
  ['lapse', 'modification_locator', 'modification'],
  ['policy', 'policyholder_locator', 'policyholder'],
]

function* belongings({ rows }: Contents): Generator<Violation> {
  for (const [table, column, owner] of BELONGS) {
    const present = new Set((rows[owner] ?? []).map(({ locator }) => locator))
    for (const row of rows[table] ?? [])
      if (row[column] !== null && !present.has(row[column]))
        yield {
          check: 'belongs',
          policy: String(row.policy_locator ?? row.locator),
          says: `The ${table} ${row.locator} is of a ${owner} that is not there.`,
        }
  }
}

/** The error message of a check that fails; undefined for one that passes. */
function failure(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (problem) {
    return problem instanceof Error ? problem.message.split('\n').slice(0, 12).join(' ') : String(problem)
  }
}

function tiles(aggregate: PolicyAggregate): void {
  const segments = segmentsInForce(lineOf(aggregate, boundQuote(aggregate)))
  for (const [at, { start, end }] of segments.entries()) {
    if (start >= end) throw new Error(`A segment ends at ${end}, before it starts at ${start}.`)
    if (at > 0 && segments[at - 1]!.end > start) throw new Error(`Two segments are in force at ${start}.`)
  }
}

/** Checks that the amounts billed and planned are those of the coverage in force, including accepted transactions. */
function bills(loaded: Loaded): void {
  const { aggregate, product } = loaded
  const view = policyView(aggregate, boundQuote(aggregate), product, isStanding)
  const due = policyPriceResponse(view).total
  const said = Number(billed(aggregate))
  if (Math.round(said * 100) !== Math.round(due * 100))
    throw new Error(`${said} is billed and planned, and ${due} is due.`)
}

/** Checks that an installment has one valid invoice, whose status agrees with what is paid on it. */
function invoices(aggregate: PolicyAggregate): void {
  const seen = new Set<string>()
  const totals = totalsDueOf(aggregate)
  for (const invoice of aggregate.invoices.values()) {
    const status = invoiceStatus(invoice)
    if (status === 'invalidated') continue
    const installment = `${invoice.policyModificationLocator} ${invoice.installmentNumber}`
    if (seen.has(installment)) throw new Error(`The installment ${installment} is invoiced twice.`)
    seen.add(installment)
    const rest = restDue(aggregate, invoice, totals(invoice)).minor
    if (status === 'paid' && rest !== 0)
      throw new Error(`The invoice ${invoice.locator} is paid, and ${rest} of it is not.`)
    if (status === 'unfulfilled' && rest === 0)
      throw new Error(`The invoice ${invoice.locator} is not fulfilled, and nothing of it is open.`)
  }
}

type Holds = readonly [check: Check, holds: (loaded: Loaded) => void]

const HOLDS: readonly Holds[] = [['invoices', ({ aggregate }) => invoices(aggregate)]]

/** Checks of issued policies. */
const BOUND: readonly Holds[] = [
  ['segments', ({ aggregate }) => tiles(aggregate)],
  ['bills', bills],
  ['modifications', loaded => modificationsAddUp({ loaded } as unknown as Story)],
  ['changes', loaded => recordedChangesAddUp({ loaded } as unknown as Story)],
]

/** Checks that the interface returns what is stored. */
function answered({ aggregate, product }: Loaded, shown: unknown): void {
  const expected = policyResponse(aggregate, product, { summarizeQuotes: false })
  const text = (value: unknown): string =>
    JSON.stringify(value, (name, inner) => (name === 'url' || name === 'documents' ? undefined : inner))
  if (text(expected) !== text(shown))
    throw new Error('GET answers another policy than the one that is stored.')
}

function* ofPolicy(policy: string, { loaded, shown, problem }: Kept): Generator<Violation> {
  if (!loaded) return yield { check: 'readable', policy, says: `It cannot be read: ${problem}` }
  const checks: Holds[] = [
    ...HOLDS,
    ...(loaded.aggregate.policy.issuedAt === undefined ? [] : BOUND),
    ['answered', one => answered(one, shown)],
  ]
  for (const [check, holds] of checks) {
    const says = failure(() => holds(loaded))
    if (says !== undefined) yield { check, policy, says }
  }
}

/** Violations by the policy as it was read, so that contents which differ elsewhere do not check it again. */
const found = new WeakMap<Kept, readonly Violation[]>()

function* kept({ policies }: Contents): Generator<Violation> {
  for (const [policy, one] of policies) {
    if (!found.has(one)) found.set(one, [...ofPolicy(policy, one)])
    yield* found.get(one)!
  }
}

/** Checks that no policyholder has used more credit than there was. */
function* credits({ rows }: Contents): Generator<Violation> {
  const credit = new Map<string, number>()
  const add = (holder: unknown, change: number): void => {
    credit.set(String(holder), (credit.get(String(holder)) ?? 0) + change)
  }
  for (const row of rows.payment ?? [])
    if (row.reversed_at === null)
      add(row.policyholder_locator, row.source === 'credit' ? -Number(row.amount) : Number(row.credited))
  for (const row of rows.disbursement ?? []) add(row.policyholder_locator, -Number(row.amount))
  for (const [holder, minor] of credit)
    if (minor < 0) yield { check: 'credit', says: `The credit of policyholder ${holder} is ${minor}.` }
}

export function* policies(contents: Contents): Generator<Violation> {
  yield* versions(contents)
  yield* belongings(contents)
  yield* kept(contents)
  yield* credits(contents)
}
