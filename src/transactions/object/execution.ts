// What happens inside a policy's object: load, decide, commit, answer (docs/design.md, section 5). Operations of
// one policy run one after the other; that nothing is lost when two instances run at once is D1's doing.
import { decideInvoicing, decideNextInvoice } from '../../billing/invoicing.ts'
import { externalRaters } from '../../extension/integrations/external-raters.ts'
import { PluginSessions } from '../../extension/plugins/sessions.ts'
import { type ErrorCode, Refusal } from '../../kernel/errors.ts'
import { type LocatorSupply, locatorSupply, shardOfDigits } from '../../kernel/locators.ts'
import {
  type AnswerBySubject,
  GuardTripped,
  type JsonAnswer,
  retryOnConflict,
  storedAnswer,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { requireMatch } from '../../platform/entity-tags.ts'
import { takeLocators } from '../../platform/sequence.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import type { Planned } from '../../policy/planned.ts'
import { digitsForChanges, digitsForNewDraft } from '../../policy/records/changes.ts'
import { loadGround, loadVersion } from '../../policy/store/loading.ts'
import { NeedsWholePolicy, type Part } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { tableReader } from '../../reference/constraints/force.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { Autofill } from '../autofill/fill.ts'
import { decideCancellation } from '../cancellations/decision.ts'
import { planCoverEnd } from '../cancellations/effective.ts'
import { decideScheduledEvent } from '../custom-events/plan.ts'
import { type Made, planMade } from '../documents/made.ts'
import { planRemoval, planUpload, policyAsOwner } from '../documents/upload.ts'
import { decideEndorsement } from '../endorsements/decision.ts'
import { partOf } from '../endorsements/touches.ts'
import { DIGITS_FOR_FEE_UPDATE, planFeeUpdate } from '../fees/fee-update.ts'
import { decideAmountDue, decideLapse } from '../lapses/decision.ts'
import {
  decideCreation,
  decideDiscard,
  decideFinalization,
  decideIssue,
  decideUnderwriting,
  decideUpdate,
} from '../new-business/decision.ts'
import { decidePayment, RefusedPayOut } from '../payments/decision.ts'
import { decideChange } from '../planned-change.ts'
import { decideQuote } from '../quotes/decision.ts'
import { decideReinstatement } from '../reinstatements/decision.ts'
import { decideScheduleChange } from '../schedule/schedule-change.ts'
import { decideTermEnd } from '../term-end.ts'
import { constraintProblems } from '../upgrade/constraints.ts'
import { decideUpgrade } from '../upgrade/decision.ts'
import {
  type AnswerOf,
  cancellationAnswer,
  endorsementAnswer,
  feesAnswer,
  gracePeriodAnswer,
  invoiceAnswer,
  json,
  lapseReinstatementAnswer,
  paymentAnswer,
  policyAnswer,
  quoteAnswer,
  reinstatementAnswer,
  VOID,
} from './answers.ts'
import { forget, type PolicyMemory, remembered } from './memory.ts'
import type { PolicyMessage, PolicyOperation } from './message.ts'
import { priceAnswer } from './price-answer.ts'
import { record } from './recording.ts'
import { recordsOf } from './records.ts'

/** Answers the operation; throws a Refusal when it is not carried out. */
export async function execute(
  context: RequestContext,
  message: PolicyMessage,
  memory: PolicyMemory,
): Promise<JsonAnswer | AnswerBySubject> {
  const shard = shardOfDigits(message.locator)
  const database = shardDatabase(context.env, context.tenant, shard, context.calls)
  const plugins = new PluginSessions({ context, database, shard }, message.locator)
  try {
    return await attemptAgain(context, database, message, memory, plugins)
  } catch (problem) {
    forget(memory)
    // A repeat of what was done is answered as it was then, even where the state now forbids it.
    if (!(problem instanceof Refusal)) throw problem
    const earlier = await storedAnswer(context, database)
    if (earlier) return earlier
    if (!SHOWN_ONLY.has(message.operation.kind)) await plugins.tellOfFailure()
    throw plugins.withoutSecrets(problem)
  } finally {
    plugins.keepLogs()
  }
}

/** Refusals that a service of the tenant's is the reason of: nothing that is read again makes it answer otherwise. */
const OF_OTHERS: ReadonlySet<ErrorCode> = new Set([
  'externalRaterFailed',
  'integrationFailed',
  'integrationRefused',
])

/** Rating may call services of the tenant, so an operation is tried again only once. */
const ATTEMPTS = 2

/** What was read may have changed since: when a guard trips, and when a refusal rests on memory, all is read again. */
function attemptAgain(
  context: RequestContext,
  database: Database,
  message: PolicyMessage,
  memory: PolicyMemory,
  plugins: PluginSessions,
): Promise<JsonAnswer | AnswerBySubject> {
  let fromMemory = false
  const mayBeStale = (problem: unknown): boolean =>
    fromMemory &&
    problem instanceof Refusal &&
    !(problem instanceof RefusedPayOut) &&
    !OF_OTHERS.has(problem.code)
  const once = async (isFirst: boolean) => {
    if (!isFirst) forget(memory)
    fromMemory = memory.loaded !== undefined
    return await attempt(context, database, message, memory, plugins)
  }
  return retryOnConflict(`Policy ${message.locator}`, once, {
    attempts: ATTEMPTS,
    isConflict: problem => problem instanceof GuardTripped || mayBeStale(problem),
  })
}

/** Operations that store nothing; a dry run of an upgrade does not either. */
const SHOWN_ONLY: ReadonlySet<PolicyOperation['kind']> = new Set([
  'price',
  'underwriting',
  'change',
  'amountDue',
])

/** Of a large policy a part may do; where it does not, the whole policy is read. */
async function attempt(
  context: RequestContext,
  database: Database,
  message: PolicyMessage,
  memory: PolicyMemory,
  plugins: PluginSessions,
): Promise<JsonAnswer | AnswerBySubject> {
  // A record that is held against a tag is shown, for which the whole policy is read.
  const part = message.ifMatch === undefined ? partFor(message.operation) : undefined
  const tables = new RatingTables(context)
  await tables.open()
  const on = (some: Part | undefined) =>
    tables.inRounds(() => attemptOn(some, context, database, message, memory, plugins, tables))
  try {
    return await on(part)
  } catch (problem) {
    if (!(problem instanceof NeedsWholePolicy)) throw problem
    return await on(undefined)
  }
}

/** The part of the policy that may be enough for the operation; undefined where it never is. */
function partFor(operation: PolicyOperation): Part | undefined {
  if (operation.kind !== 'endorsement' || operation.answersPolicy) return undefined
  return partOf(operation.operation)
}

async function attemptOn(
  part: Part | undefined,
  context: RequestContext,
  database: Database,
  { locator, operation, ifMatch }: PolicyMessage,
  memory: PolicyMemory,
  plugins: PluginSessions,
  tables: RatingTables,
): Promise<JsonAnswer | AnswerBySubject> {
  const shard = shardOfDigits(locator)
  const lease = (count: number): Promise<number[]> =>
    count <= 0 ? Promise.resolve([]) : takeLocators(context, shard, count)
  const digits = async (count: number): Promise<LocatorSupply> => locatorSupply(shard, await lease(count))
  const session = plugins.begin()
  const autofill = new Autofill(context, locator, session, tables)
  const readTables = tableReader(context)
  const attemptWith = (supply: LocatorSupply): Attempt => ({
    now: context.now,
    supply,
    digits,
    plugins: session,
    externalRater: externalRaters(context, shard),
    tables,
    readTables,
  })

  if (operation.kind === 'create') {
    const ground = await loadGround(context, database, operation.request)
    const request = await autofill.creation(operation.request, ground)
    const more = await lease(digitsForNewDraft(request.exposures) - operation.digits.length)
    const creation = attemptWith(locatorSupply(shard, [...operation.digits, ...more]))
    const planned = await autofill.explaining(decideCreation(request, ground, creation))
    return await record(context, database, memory, {
      before: undefined,
      loaded: { ...ground, aggregate: planned.aggregate },
      planned,
      attempt: creation,
      answer: policyAnswer(operation),
      subject: String(locator),
      plugins,
    })
  }

  const isDryRun = operation.kind === 'upgrade' && operation.request.dryRun
  const stored = !SHOWN_ONLY.has(operation.kind) && !isDryRun
  // What waits by the rows and not by memory waits: another instance wrote it.
  const isKnown = (made: readonly Made[]) =>
    memory.loaded && planMade(memory.loaded.aggregate, made, context.now)
  if (operation.kind === 'documentsMade' && !isKnown(operation.made)) forget(memory)
  const trust = stored ? 'guarded' : 'unguarded'
  const loaded = await remembered(context, database, memory, locator, trust, part)
  requireMatch(ifMatch, ...recordsOf(operation, loaded))
  const plain = attemptWith(locatorSupply(shard, []))
  const recorded = async (
    planned: Planned,
    answer: AnswerOf = policyAnswer({ summarizeQuotes: false }),
    subject = String(locator),
  ) =>
    await record(context, database, memory, {
      before: loaded.aggregate,
      loaded: { ...loaded, aggregate: planned.aggregate },
      planned,
      attempt: plain,
      answer,
      subject,
      plugins,
    })
  /** Carries out what a refused call planned; no answer of it is kept for a repeat. */
  const carriedOut = async (problem: unknown): Promise<never> => {
    if (problem instanceof RefusedPayOut)
      await record({ ...context, idempotency: undefined }, database, memory, {
        before: loaded.aggregate,
        loaded: { ...loaded, aggregate: problem.planned.aggregate },
        planned: problem.planned,
        attempt: plain,
        answer: () => VOID,
        subject: String(locator),
        plugins,
      })
    throw problem
  }
  switch (operation.kind) {
    case 'update': {
      const request = await autofill.update(operation.request, loaded)
      const supply = await digits(digitsForChanges(request))
      return await recorded(await autofill.explaining(decideUpdate(request, loaded, attemptWith(supply))))
    }
    case 'finalize':
      return await recorded(await decideFinalization(loaded, plain))
    case 'issue':
      return await recorded(await decideIssue(loaded, plain))
    case 'discard':
      return await recorded(decideDiscard(loaded, plain), () => VOID)
    case 'quote': {
      const { planned, quote } = await decideQuote(loaded, operation.quote, operation.operation, plain)
      return await recorded(planned, quoteAnswer(quote, operation.operation), `${locator}/${quote}`)
    }
    case 'endorsement': {
      const asked = await autofill.endorsement(operation.operation, loaded)
      const decided = decideEndorsement(loaded, asked, plain)
      const { planned, endorsement } = await autofill.explaining(decided)
      if (operation.answersPolicy) return await recorded(planned)
      return await recorded(planned, endorsementAnswer(endorsement), `${locator}/${endorsement}`)
    }
    case 'cancellation': {
      const { planned, cancellation } = await decideCancellation(loaded, operation.operation, plain)
      if (cancellation === undefined) return await recorded(planned)
      return await recorded(planned, cancellationAnswer(cancellation), `${locator}/${cancellation}`)
    }
    case 'reinstatement': {
      const { planned, reinstatement } = await decideReinstatement(loaded, operation.operation, plain)
      if (!planned) return VOID
      return await recorded(planned, reinstatementAnswer(reinstatement), `${locator}/${reinstatement}`)
    }
    case 'lapse': {
      const { planned, shown } = await decideLapse(loaded, operation.operation, plain)
      if (!planned) return VOID
      if (!shown) return await recorded(planned, () => VOID)
      if ('gracePeriod' in shown)
        return await recorded(
          planned,
          gracePeriodAnswer(shown.gracePeriod),
          `${locator}/gracePeriod/${shown.gracePeriod}`,
        )
      return await recorded(
        planned,
        lapseReinstatementAnswer(shown.reinstatement),
        `${locator}/reinstatement/${shown.reinstatement}`,
      )
    }
    case 'amountDue':
      return json(await decideAmountDue(loaded, operation.reinstatement, operation.effectiveAt, plain))
    case 'payment': {
      const { planned, payment } = await decidePayment(loaded, operation.operation, plain).catch(carriedOut)
      return await recorded(planned, paymentAnswer(payment), `${locator}/${payment}`)
    }
    case 'nextInvoice': {
      const { planned, invoice } = await decideNextInvoice(loaded, plain)
      return await recorded(planned, invoiceAnswer(invoice), `${locator}/${invoice}`)
    }
    case 'fees': {
      const { newFees, reverseFees } = operation.request
      if (newFees.length + reverseFees.length === 0) return feesAnswer(loaded)
      const supply = await digits(DIGITS_FOR_FEE_UPDATE)
      const { aggregate, product } = loaded
      const context = { product, now: plain.now, supply }
      return await recorded(planFeeUpdate(aggregate, operation.request, context), feesAnswer)
    }
    case 'paymentSchedule': {
      const planned = await decideScheduleChange(loaded, operation.name, plain)
      return planned ? await recorded(planned, () => VOID) : VOID
    }
    case 'change':
      return json(
        await autofill.explaining(decideChange(loaded, await autofill.change(operation.of, loaded), plain)),
      )
    case 'upgrade': {
      const target = await loadVersion(context, database, operation.request.configVersion)
      const constraints = await constraintProblems(loaded, target, plain)
      const { upgraded, answer } = decideUpgrade(loaded, target, operation.request, context.now, constraints)
      // The policy may have the version already because this very request was carried out before.
      if (!upgraded) return (await storedAnswer(context, database)) ?? json(answer)
      return await record(context, database, memory, {
        before: loaded.aggregate,
        ...upgraded,
        attempt: plain,
        answer: () => json(answer),
        subject: String(locator),
        plugins,
      })
    }
    case 'invoice': {
      const planned = await decideInvoicing(loaded, plain)
      return planned ? await recorded(planned, () => VOID) : VOID
    }
    case 'termEnd': {
      const planned = decideTermEnd(loaded.aggregate, loaded.product, operation.notice, context.now)
      return planned ? await recorded(planned, () => VOID) : VOID
    }
    case 'scheduledEvent': {
      const { customEvents } = loaded.configuration.configuration
      const planned = decideScheduledEvent(loaded.aggregate, customEvents, operation.time, context.now)
      return planned ? await recorded(planned, () => VOID) : VOID
    }
    case 'coverEnd': {
      const planned = planCoverEnd(loaded.aggregate, operation.modification)
      return planned ? await recorded(planned, () => VOID) : VOID
    }
    case 'addDocument':
      return await recorded(planUpload(loaded.aggregate, operation.document, context.now))
    case 'removeDocument':
      return await recorded(
        planRemoval(loaded.aggregate, policyAsOwner(loaded.aggregate), operation.document),
      )
    case 'documentsMade': {
      // What shows values that were overwritten meanwhile is no document: it still waits, and is made again.
      const { policyholderVersion = loaded.policyholder.version } = operation
      if (loaded.policyholder.version !== policyholderVersion) return VOID
      const planned = planMade(loaded.aggregate, operation.made, context.now)
      return planned ? await recorded(planned, () => VOID) : VOID
    }
    case 'price':
      return await priceAnswer(loaded, operation.due, plain)
    case 'underwriting':
      return json(await decideUnderwriting(loaded, plain))
  }
}
