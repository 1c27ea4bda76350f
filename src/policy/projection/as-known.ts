// A policy as known at an earlier time: the aggregate without what came later, derived from the stamps of its records. Stored
// records do not show what was overwritten:
// - a draft appears with its present content and span, without exposures and perils added since; removed ones are missing;
// - a quote that a person decided on is unpriced until that decision, whose stamp replaced the first;
// - earlier manual selections of quotes and acceptances that were undone are lost, except void invoices; the quote that is selected
//   now is used instead, or the first one;
// - a time without a selected quote is lost if a quote is selected again later; that quote is used instead;
// - documents deleted since are missing; requested ones appear with their files;
// - `updatedAt` of a record that changed later is the latest time that its other stamps still have.
import type { Uuid } from '../../kernel/locators.ts'
import { zero } from '../../kernel/money.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { contractEndAfter, isStanding } from '../fold/line.ts'
import type { Modification, Policy, PolicyAggregate, Quote, Stamped } from '../records/aggregate.ts'
import { configVersionAt } from '../records/aggregate.ts'
import { type Invoice, type Payment, paymentsOf } from '../records/invoice.ts'
import type { Cancellation, Endorsement, GracePeriod } from '../records/transactions.ts'
import { type LapseReinstatement, type Reinstatement, reinstatementStatus } from '../records/transactions.ts'

type Stamp = Instant | undefined

/** Returns the policy as known at `asOf`; undefined before it was created. */
export function policyAsKnownAt(aggregate: PolicyAggregate, asOf: Instant): PolicyAggregate | undefined {
  const { policy } = aggregate
  if (policy.createdAt > asOf) return undefined
  const modifications = knownRecords(aggregate.modifications, asOf, one => modificationAt(one, asOf))
  const isKnown = (locator: Uuid | undefined): boolean => modifications.has(locator!)
  const isPriced = (locator: Uuid): boolean => {
    const maker = modifications.get(locator)
    return maker !== undefined && (maker.quoteLocator === undefined || maker.premiumChange !== undefined)
  }
  const recordAsKnown = <R extends { madeBy: Uuid; replacedBy?: Uuid }>(run: R): R | undefined =>
    isKnown(run.madeBy)
      ? { ...run, replacedBy: isKnown(run.replacedBy) ? run.replacedBy : undefined }
      : undefined
  const runAt = <R extends Parameters<typeof recordAsKnown>[0] & { cuts: readonly { by: Uuid }[] }>(
    run: R,
  ): R | undefined => {
    const made = recordAsKnown(run)
    return made && { ...made, cuts: run.cuts.filter(cut => isKnown(cut.by)) }
  }
  const known: PolicyAggregate = {
    policy: {
      ...policy,
      configVersion: configVersionAt(policy, asOf),
      upgrades: policy.upgrades?.filter(one => one.at <= asOf),
      ...stampsUntil(policy, asOf, ['finalizedAt', 'issuedAt', 'discardedAt']),
    },
    quotes: quotesAt(aggregate, asOf),
    modifications,
    segments: knownRecords(aggregate.segments, asOf, recordAsKnown),
    exposures: knownRecords(aggregate.exposures, asOf),
    exposureRuns: knownRecords(aggregate.exposureRuns, asOf, runAt),
    perils: knownRecords(aggregate.perils, asOf),
    perilRuns: knownRecords(aggregate.perilRuns, asOf, run => {
      const knownRun = runAt(run)
      return knownRun && !isPriced(run.madeBy) ? { ...knownRun, price: undefined } : knownRun
    }),
    fees: mapRecords(
      aggregate.fees,
      fee => isPriced(fee.madeBy) && { ...fee, changes: fee.changes.filter(change => isKnown(change.by)) },
    ),
    installments: mapRecords(
      aggregate.installments,
      one => isKnown(one.modificationLocator) && { ...one, absorbedBy: one.absorbedBy.filter(isKnown) },
    ),
    invoices: knownRecords(aggregate.invoices, asOf, one => invoiceAt(one, paymentsOf(aggregate, one), asOf)),
    payments: mapRecords(aggregate.payments, one =>
      paymentAt(one, aggregate.invoices.get(one.invoiceLocator)!, asOf),
    ),
    endorsements: knownRecords(aggregate.endorsements, asOf, one => endorsementAt(one, modifications, asOf)),
    cancellations: knownRecords(aggregate.cancellations, asOf, one => cancellationAt(one, asOf)),
    reinstatements: knownRecords(aggregate.reinstatements, asOf, one =>
      reinstatementAt(one, modifications, asOf),
    ),
    documents: knownRecords(aggregate.documents, asOf),
    media: aggregate.media,
    gracePeriods: knownRecords(aggregate.gracePeriods, asOf, one => gracePeriodAt(one, asOf)),
    lapses: mapRecords(aggregate.lapses, one => one.createdAt <= asOf && one),
    lapseReinstatements: knownRecords(aggregate.lapseReinstatements, asOf, one =>
      lapseReinstatementAt(one, asOf),
    ),
  }
  return policy.updatedAt <= asOf ? known : { ...known, policy: policyAt(known) }
}

/** Returns the records that were created by then, each as `asKnown` returns it. */
const knownRecords = <K, R extends Stamped & { readonly issuedAt?: Instant }>(
  records: ReadonlyMap<K, R>,
  asOf: Instant,
  asKnown: (record: R) => R | undefined = record => record,
): ReadonlyMap<K, R> =>
  mapRecords(records, record => {
    if (record.createdAt > asOf) return undefined
    const known = asKnown(record)
    return known && known.updatedAt > asOf
      ? { ...known, updatedAt: latestStamp(known.createdAt, [stampUntil(known.issuedAt, asOf)]) }
      : known
  })

/** Maps the records. Omits those for which `asKnown` returns nothing. */
const mapRecords = <K, R>(
  records: ReadonlyMap<K, R>,
  asKnown: (record: R) => R | false | undefined,
): ReadonlyMap<K, R> =>
  new Map(
    [...records].flatMap(([locator, record]) => {
      const known = asKnown(record)
      return known ? [[locator, known]] : []
    }),
  )

const stampUntil = (stamp: Stamp, asOf: Instant): Stamp =>
  stamp !== undefined && stamp <= asOf ? stamp : undefined

/** Returns the record's stamps of these names. Stamps later than `asOf` become undefined. */
const stampsUntil = <Name extends string>(
  record: { readonly [K in Name]?: Instant },
  asOf: Instant,
  names: readonly Name[],
): { [K in Name]: Stamp } =>
  Object.fromEntries(names.map(name => [name, stampUntil(record[name], asOf)])) as { [K in Name]: Stamp }

const latestStamp = (first: Instant, stamps: readonly Stamp[]): Instant =>
  stamps.reduce<Instant>((last, stamp) => (stamp === undefined ? last : later(last, stamp)), first)

/**
 * Returns the modification as known then. A quote's modification is priced when it is underwritten, or when it is accepted without
 * underwriting (migrated quotes). Later modifications are priced from the start.
 */
function modificationAt(modification: Modification, asOf: Instant): Modification {
  const stamps = stampsUntil(modification, asOf, ['acceptedAt', 'issuedAt', 'invalidatedAt'])
  const underwriting = underwritingAt(modification, asOf)
  const { quoteLocator, premiumChange, createdAt, updatedAt } = modification
  const isPriced = underwriting || stamps.acceptedAt !== undefined || quoteLocator === undefined
  return {
    ...modification,
    ...stamps,
    underwriting,
    premiumChange: isPriced ? premiumChange : undefined,
    updatedAt:
      updatedAt <= asOf ? updatedAt : latestStamp(createdAt, [underwriting?.at, ...Object.values(stamps)]),
  }
}

const underwritingAt = ({ underwriting }: Pick<Quote, 'underwriting'>, asOf: Instant) =>
  underwriting && underwriting.at <= asOf ? underwriting : undefined

/** Returns the invoice as known then. A status change may have moved its due time; a partial payment changes no status. */
function invoiceAt(invoice: Invoice, payments: readonly Payment[], asOf: Instant): Invoice {
  const statuses = invoice.statuses.filter(one => one.at <= asOf)
  const moved = invoice.statuses.find(one => one.at > asOf && one.dueBefore !== undefined)
  const updatedAt = latestStamp(statuses.at(-1)!.at, [
    stampUntil(invoice.updatedAt, asOf),
    ...payments.flatMap(one => [stampUntil(one.postedAt, asOf), stampUntil(one.reversedAt, asOf)]),
  ])
  return { ...invoice, statuses, dueAt: moved?.dueBefore ?? invoice.dueAt, updatedAt }
}

/**
 * Returns the payment as known then. If its invoice was written off later, a payment that had paid only a part of it had no credit
 * yet: release 0.1.0 credited the part when it wrote off the invoice.
 */
function paymentAt(payment: Payment, invoice: Invoice, asOf: Instant): Payment | undefined {
  if (payment.postedAt > asOf) return undefined
  const { statuses } = invoice
  const isSurplus = statuses.some(one => one.status === 'paid' && one.at === payment.postedAt)
  const isFreed = !isSurplus && statuses.some(one => one.status === 'writtenOff' && one.at > asOf)
  const known = isFreed ? { ...payment, credited: zero(payment.amount.currency) } : payment
  return stampUntil(known.reversedAt, asOf) === known.reversedAt ? known : { ...known, reversedAt: undefined }
}

function cancellationAt(cancellation: Cancellation, asOf: Instant): Cancellation {
  const { issuedAt } = stampsUntil(cancellation, asOf, ['issuedAt'])
  if (issuedAt !== undefined || cancellation.updatedAt <= asOf) return cancellation
  return { ...cancellation, state: 'draft', issuedAt, modificationLocator: undefined }
}

/** Returns the grace period as known then. Its end and other changes made since are those of today. */
function gracePeriodAt(grace: GracePeriod, asOf: Instant): GracePeriod {
  const { settledAt } = stampsUntil(grace, asOf, ['settledAt'])
  if (settledAt !== undefined || grace.updatedAt <= asOf) return grace
  return { ...grace, state: 'open', settledAt, cancellationLocator: undefined }
}

function lapseReinstatementAt(reinstatement: LapseReinstatement, asOf: Instant): LapseReinstatement {
  if (reinstatement.updatedAt <= asOf) return reinstatement
  const statuses = reinstatement.statuses.filter(one => one.at <= asOf)
  const known = { ...reinstatement, statuses, updatedAt: statuses.at(-1)!.at }
  return reinstatementStatus(known) === 'open'
    ? { ...known, effectiveAt: undefined, modificationLocator: undefined }
    : known
}

type Modifications = ReadonlyMap<Uuid, Modification>

/** Returns the transaction's modification that was not taken back then. The record may name that of a later attempt. */
const modificationOf = (modifications: Modifications, locator: string | number): Modification | undefined =>
  [...modifications.values()].find(
    one => one.transactionLocator === String(locator) && one.invalidatedAt === undefined,
  )

function reinstatementAt(
  reinstatement: Reinstatement,
  modifications: Modifications,
  asOf: Instant,
): Reinstatement {
  if (reinstatement.updatedAt <= asOf) return reinstatement
  const { issuedAt } = stampsUntil(reinstatement, asOf, ['issuedAt'])
  const modification = modificationOf(modifications, reinstatement.locator)
  const notIssued = modification ? 'accepted' : 'draft'
  const state = issuedAt === undefined ? notIssued : 'issued'
  return { ...reinstatement, state, issuedAt, modificationLocator: modification?.locator }
}

function endorsementAt(endorsement: Endorsement, modifications: Modifications, asOf: Instant): Endorsement {
  if (endorsement.updatedAt <= asOf) return endorsement
  const { issuedAt } = stampsUntil(endorsement, asOf, ['issuedAt'])
  const modification = modificationOf(modifications, endorsement.locator)
  const pending = modification && (isStanding(modification) ? 'accepted' : 'quoted')
  return {
    ...endorsement,
    state: issuedAt !== undefined ? 'issued' : (pending ?? 'application'),
    issuedAt,
    underwriting: modification && endorsement.underwriting,
    modificationLocator: modification?.locator,
    basedOn: modification && endorsement.basedOn,
  }
}

function quotesAt({ quotes, policy }: PolicyAggregate, asOf: Instant): PolicyAggregate['quotes'] {
  const existing = [...quotes.values()].filter(quote => quote.createdAt <= asOf)
  const selected = selectedQuoteAt(quotes, existing, policy, asOf)
  const isAccepted = stampUntil(policy.finalizedAt, asOf) !== undefined
  return knownRecords(quotes, asOf, (quote): Quote => {
    const isSelected = quote === selected
    if (quote.updatedAt <= asOf) return { ...quote, selected: isSelected }
    const underwriting = underwritingAt(quote, asOf)
    const quoted = isSelected && isAccepted ? 'accepted' : 'quoted'
    const decided = underwriting?.decision === 'accept' ? quoted : 'declined'
    return {
      ...quote,
      ...stampsUntil(quote, asOf, ['issuedAt']),
      selected: isSelected,
      underwriting,
      state: underwriting ? decided : 'draft',
      updatedAt: latestStamp(quote.createdAt, [
        underwriting?.at,
        isSelected ? stampUntil(policy.finalizedAt, asOf) : undefined,
      ]),
    }
  })
}

/**
 * Returns the quote that was selected then. Acceptance selects a quote; the quote that it deselects has the same stamp. A policy
 * that follows no quote today followed the one that was discarded since.
 */
function selectedQuoteAt(
  quotes: PolicyAggregate['quotes'],
  existing: readonly Quote[],
  { finalizedAt }: Policy,
  asOf: Instant,
): Quote | undefined {
  const isDiscarded = ({ state, selected, updatedAt }: Quote): boolean =>
    state === 'discarded' && !selected && updatedAt <= asOf
  const followsOne = [...quotes.values()].some(quote => quote.selected)
  const deselected = existing.find(
    quote => !quote.selected && quote.updatedAt > asOf && quote.updatedAt === finalizedAt,
  )
  const open = existing.filter(quote => !isDiscarded(quote))
  const first = followsOne ? open[0] : open.find(quote => quote.state === 'discarded')
  return deselected ?? existing.find(quote => quote.selected) ?? first
}

/** Returns the policy's properties, derived from its selected quote and the remaining transactions. */
function policyAt(known: PolicyAggregate): Policy {
  const { policy, quotes, modifications, cancellations, reinstatements, endorsements } = known
  const quote = [...quotes.values()].find(one => one.selected)
  const transactions = [...cancellations.values(), ...reinstatements.values(), ...endorsements.values()]
  const issued = [...modifications.values()]
    .filter(one => one.quoteLocator === undefined && one.issuedAt !== undefined)
    .sort((a, b) => a.issuedAt! - b.issuedAt! || a.number - b.number)
  const schedules = [
    ...[...endorsements.values()].map(one => [one.issuedAt, one.changes.newPaymentScheduleName] as const),
    ...issued.map(one => [one.issuedAt, one.newPaymentScheduleName] as const),
  ]
    .filter(([at, name]) => at !== undefined && name !== undefined)
    .sort(([a], [b]) => a! - b!)
  return {
    ...policy,
    originalStart: quote?.contractStart ?? policy.originalStart,
    originalEnd: quote?.contractEnd ?? policy.originalEnd,
    effectiveEnd: contractEndAfter(issued, quote?.contractEnd ?? policy.effectiveEnd),
    paymentScheduleName: schedules.at(-1)?.[1] ?? quote?.paymentScheduleName ?? policy.paymentScheduleName,
    updatedAt: latestStamp(policy.createdAt, [
      policy.finalizedAt,
      policy.issuedAt,
      policy.discardedAt,
      ...(policy.upgrades ?? []).map(one => one.at),
      quote?.updatedAt,
      ...[...quotes.values()].map(one =>
        quote || one.state !== 'discarded' ? one.createdAt : one.updatedAt,
      ),
      ...transactions.flatMap(one => [one.createdAt, one.updatedAt, one.issuedAt]),
      ...[...modifications.values()].flatMap(one =>
        one.quoteLocator === undefined
          ? [one.createdAt, one.acceptedAt, one.issuedAt, one.invalidatedAt]
          : [],
      ),
    ]),
  }
}
