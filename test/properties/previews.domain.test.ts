// Previews on random histories of both examples: after any history, a transaction has the result that its preview showed, and is
// rejected with the same message as its preview.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { toNumber } from '../../src/kernel/money.ts'
import { add, type Instant } from '../../src/kernel/time.ts'
import { plannedTotals } from '../../src/policy/bills/amounts-due.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import type { Modification, PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { recordedPriceChange } from '../../src/transactions/mechanism/price-change.ts'
import { decideIssue } from '../../src/transactions/new-business/decision.ts'
import { withCredit } from '../../src/transactions/payments/credit.ts'
import type { PolicyPreview, PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import { decidePreview } from '../../src/transactions/preview/decision.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { comparable } from '../support/comparable.ts'
import type { Example } from '../support/configurations.ts'
import { attemptAt, beginStory, inState, type Story } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { same } from '../support/story-checks.ts'
import { carryOutStep } from '../support/story-runner.ts'
import { newBusiness, steps } from '../support/story-steps.ts'
import '../../src/transactions/kinds.ts'

const SEED = 20261121

type Asked = {
  readonly kind: PolicyPreview['kind']
  readonly which: number
  readonly thousandths: number
  readonly ends: boolean
}

const asked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom('endorsement', 'renewal', 'cancellation', 'reinstatement'),
  which: fc.nat(9),
  thousandths: fc.integer({ min: -10, max: 1_010 }),
  ends: fc.boolean(),
})

const NOTHING = { effectiveTimestamp: undefined, reinstatementDeadlineTimestamp: undefined }

/** The transaction with the policy's own names. Undefined if there is nothing of this kind to do. */
function previewOf({ loaded }: Story, { kind, which, thousandths, ends }: Asked): PolicyPreview | undefined {
  const { aggregate, product } = loaded
  const { originalStart, effectiveEnd, timeZone } = aggregate.policy
  const at = (originalStart + Math.floor(((effectiveEnd - originalStart) * thousandths) / 1_000)) as Instant
  const pick = <R>(records: readonly R[]): R | undefined => records[which % records.length]
  switch (kind) {
    case 'endorsement': {
      const type = pick(product.endorsements)!
      const ended = ends && aggregate.exposures.size > 1 ? [[...aggregate.exposures.keys()].at(-1)!] : []
      const request = EndorsementCreateRequest.parse({
        endorsementName: type.name,
        startTimestamp: at,
        endExposures: ended,
        ...(type.reprice === 'input' && { reprice: ends }),
        ...(which % 3 === 0 && { newPaymentScheduleName: pick(product.paymentSchedules)!.name }),
      })
      return { kind, request }
    }
    case 'renewal': {
      const renewalEndTimestamp = add(effectiveEnd, which, 'month', timeZone)
      return { kind, request: RenewalCreateRequest.parse({ renewalEndTimestamp }) }
    }
    case 'cancellation': {
      const type = pick(product.cancellationTypes ?? [])
      const request = {
        effectiveTimestamp: at,
        name: type?.name ?? 'lapse',
        cancellationCategory: type?.cancellationCategories[0],
        conflictHandling: undefined,
        issue: false,
      }
      return { kind, request }
    }
    case 'reinstatement': {
      const cancellation = pick(inState(aggregate.cancellations, 'issued'))
      if (!cancellation) return undefined
      const cancellationLocator = String(cancellation.locator)
      const effectiveTimestamp = ends ? undefined : at
      return { kind, request: { ...NOTHING, cancellationLocator, effectiveTimestamp, issue: false } }
    }
  }
}

/** Carries out and issues the transaction. Takes back blocking transactions if its kind can. */
async function carriedOut({ loaded, now }: Story, { kind, request }: PolicyPreview): Promise<Planned> {
  const attempt = attemptAt(now)
  switch (kind) {
    case 'issue':
      return await decideIssue(loaded, attempt)
    case 'endorsement': {
      const whole = { ...request, state: 'issued' as const, conflictHandling: 'invalidate' as const }
      return (await decideEndorsement(loaded, { action: 'create', request: whole }, attempt)).planned
    }
    case 'renewal': {
      const whole = { ...request, state: 'issued' as const }
      return (await decideEndorsement(loaded, { action: 'renew', request: whole }, attempt)).planned
    }
    case 'cancellation': {
      const whole = { ...request, issue: true, conflictHandling: 'invalidate' as const }
      return (await decideCancellation(loaded, { action: 'create', request: whole }, attempt)).planned
    }
    case 'reinstatement': {
      const { cancellationLocator, ...rest } = request
      const [cancellation] = [...loaded.aggregate.cancellations.keys()].filter(
        locator => String(locator) === cancellationLocator,
      )
      const whole = { ...rest, issue: true }
      const operation = { action: 'create' as const, cancellation: cancellation!, request: whole }
      return (await decideReinstatement(loaded, operation, attempt)).planned!
    }
  }
}

const attempted = async <T>(run: () => Promise<T>): Promise<T | Refusal> => {
  try {
    return await run()
  } catch (problem) {
    if (problem instanceof Refusal) return problem
    throw problem
  }
}

const newest = ({ modifications }: PolicyAggregate): Modification => [...modifications.values()].at(-1)!

const cents = (amount: number): number => Math.round(amount * 100)

/** Messages without locators of created records, which differ each time. */
const words = ({ code, message }: Refusal) => ({
  code,
  message: message.replace(/\d{9,}|[0-9a-f-]{36}/g, '…'),
})

/**
 * Every financial transaction of an invoice except fees names a segment of the policy, and together they total the amount due.
 */
function itemised({
  invoices,
  policyWhenIssued,
}: Pick<PolicyPreviewResponse, 'invoices' | 'policyWhenIssued'>): void {
  const perils = policyWhenIssued.exposures.flatMap(exposure => exposure.perils)
  const segments = new Set(perils.flatMap(peril => peril.characteristics.map(one => one.locator)))
  for (const { financialTransactions: items, totalDue } of invoices) {
    for (const one of items)
      if (one.type !== 'fee') expect(segments).toContain(one.perilCharacteristicsLocator)
    const payable = items.filter(one => one.type !== 'commission')
    expect(payable.reduce((sum, one) => sum + cents(one.amount), 0)).toBe(cents(totalDue))
  }
}

describe.each<Example>(['motor', 'home'])(`a preview on the %s example (seed ${SEED})`, example => {
  it(
    'shows the price, policy and invoices that the transaction results in',
    async () => {
      const seen = { carriedOut: 0, refused: 0 }
      await fc.assert(
        fc.asyncProperty(
          newBusiness,
          steps,
          fc.array(asked, { minLength: 2, maxLength: 5 }),
          async (business, all, questions) => {
            let story = await beginStory(example, business)
            for (const one of all) ({ story } = await carryOutStep(story, one))
            const { aggregate: before, product } = story.loaded
            for (const question of questions) {
              const preview = previewOf(story, question)
              if (!preview) continue
              const foreseen = await attempted(() =>
                decidePreview(story.loaded, preview, attemptAt(story.now)),
              )
              const real = await attempted(async () => {
                const plan = await carriedOut(story, preview)
                return (await withCredit(before, story.loaded, plan, attemptAt(story.now))).planned
              })
              if (real instanceof Refusal) {
                seen.refused += 1
                if (foreseen instanceof Refusal) expect(words(foreseen)).toEqual(words(real))
                // A renewal and a reinstatement cannot take back what blocks them. Their preview ignores it.
                else expect(foreseen.conflicts.length).toBeGreaterThan(0)
                continue
              }
              seen.carriedOut += 1
              if (foreseen instanceof Refusal) throw foreseen
              const { aggregate } = real
              same(
                comparable(foreseen.price),
                comparable(recordedPriceChange(aggregate, newest(aggregate), product)),
              )
              same(
                comparable(foreseen.policyWhenIssued),
                comparable(policyResponse(aggregate, product, { summarizeQuotes: false })),
              )
              const shown = [...foreseen.policyWhenIssued.invoices.slice(before.invoices.size)]
                .map(one => one.totalDue)
                .concat(plannedTotals(aggregate).map(toNumber))
              expect(foreseen.invoices.map(one => one.totalDue).sort()).toEqual(shown.sort())
              itemised(foreseen as PolicyPreviewResponse)
            }
          },
        ),
        { seed: SEED, numRuns: size(9, 750) },
      )
      expect(seen.carriedOut).toBeGreaterThan(seen.refused / 4)
    },
    size(150_000, 3_000_000),
  )
})
