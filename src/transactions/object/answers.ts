// What operations answer: records as they are once what was planned is recorded.

import { invoiceResponse } from '../../billing/projection.ts'
import type { CancellationLocator, EndorsementLocator, QuoteLocator, Uuid } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import { paymentResponse } from '../../policy/projection/invoices.ts'
import { feeSummary } from '../../policy/projection/parts.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import { policyView } from '../../policy/projection/view.ts'
import { paymentNamed } from '../../policy/records/payment.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { policyPriceResponse } from '../../rating/price.ts'
import { cancellationOf } from '../cancellations/cancellation-of.ts'
import { cancellationResponse } from '../cancellations/projection.ts'
import { endorsementOf } from '../endorsements/endorsement-of.ts'
import { transactionResponse } from '../endorsements/projection.ts'
import { gracePeriodOf, lapseReinstatementOf } from '../lapses/decision.ts'
import { gracePeriodResponse, lapseReinstatementResponse } from '../lapses/projection.ts'
import type { QuoteOperation } from '../quotes/decision.ts'
import { quoteResponse } from '../quotes/projection.ts'
import { quoteOf } from '../quotes/quote-of.ts'
import { reinstatementResponse } from '../reinstatements/projection.ts'
import { reinstatementOf } from '../reinstatements/reinstatement-of.ts'

export const json = (value: unknown): JsonAnswer => ({ status: 200, text: JSON.stringify(value) })

export const VOID: JsonAnswer = { status: 200, text: '' }

/** The answer that shows what was recorded. */
export type AnswerOf = (recorded: Loaded) => JsonAnswer

export const policyAnswer =
  ({ summarizeQuotes }: { summarizeQuotes: boolean }): AnswerOf =>
  ({ aggregate, product }) =>
    json(policyResponse(aggregate, product, { summarizeQuotes }))

export const feesAnswer: AnswerOf = ({ aggregate }) => json(feeSummary(aggregate))

export const endorsementAnswer =
  (locator: EndorsementLocator): AnswerOf =>
  ({ aggregate, product }) =>
    json(transactionResponse(aggregate, endorsementOf(aggregate, locator), product))

export const cancellationAnswer =
  (locator: CancellationLocator): AnswerOf =>
  ({ aggregate, product }) =>
    json(cancellationResponse(aggregate, cancellationOf(aggregate, locator), product))

export const reinstatementAnswer =
  (locator: Uuid): AnswerOf =>
  ({ aggregate, product }) =>
    json(reinstatementResponse(aggregate, reinstatementOf(aggregate, locator), product))

export const gracePeriodAnswer =
  (locator: Uuid): AnswerOf =>
  ({ aggregate, product }) =>
    json(gracePeriodResponse(aggregate, gracePeriodOf(aggregate, locator), product))

export const lapseReinstatementAnswer =
  (locator: Uuid): AnswerOf =>
  ({ aggregate }) =>
    json(lapseReinstatementResponse(aggregate, lapseReinstatementOf(aggregate, locator)))

export const paymentAnswer =
  (locator: Uuid): AnswerOf =>
  ({ aggregate }) =>
    json(paymentResponse(aggregate, paymentNamed(aggregate, locator)))

export const invoiceAnswer =
  (locator: Uuid): AnswerOf =>
  ({ aggregate }) =>
    json(invoiceResponse(aggregate, locator))

export const quoteAnswer =
  (locator: QuoteLocator, { action }: QuoteOperation): AnswerOf =>
  ({ aggregate, product }) => {
    if (action === 'select') return VOID
    const quote = quoteOf(aggregate, locator)
    return json(
      action === 'quote'
        ? policyPriceResponse(policyView(aggregate, quote, product, () => false))
        : quoteResponse(aggregate, quote, product),
    )
  }
