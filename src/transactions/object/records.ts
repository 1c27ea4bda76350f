// The record that an operation changes, as it is read: what `If-Match` is held against (platform/http/records.ts has the paths).

import { invoiceResponse } from '../../billing/projection.ts'
import { paymentResponse } from '../../policy/projection/invoices.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import { paymentNamed } from '../../policy/records/payment.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { cancellationOf } from '../cancellations/cancellation-of.ts'
import { cancellationResponse } from '../cancellations/projection.ts'
import { endorsementOf } from '../endorsements/endorsement-of.ts'
import { transactionResponse } from '../endorsements/projection.ts'
import { gracePeriodOf, lapseReinstatementOf } from '../lapses/decision.ts'
import { gracePeriodResponse, lapseReinstatementResponse } from '../lapses/projection.ts'
import { quoteResponse } from '../quotes/projection.ts'
import { quoteOf } from '../quotes/quote-of.ts'
import { reinstatementResponse } from '../reinstatements/projection.ts'
import { reinstatementOf } from '../reinstatements/reinstatement-of.ts'
import type { PolicyOperation } from './message.ts'

type Shown = () => unknown

/** The record that the operation is about, in each form in which it is read: the policy, or what a locator names. */
export function recordsOf(operation: PolicyOperation, loaded: Loaded): Shown[] {
  const { aggregate, product } = loaded
  switch (operation.kind) {
    case 'quote':
      return [() => quoteResponse(aggregate, quoteOf(aggregate, operation.quote), product)]
    case 'endorsement': {
      const asked = operation.operation
      if (!('endorsement' in asked)) break
      return [() => transactionResponse(aggregate, endorsementOf(aggregate, asked.endorsement), product)]
    }
    case 'cancellation': {
      const asked = operation.operation
      if (!('cancellation' in asked)) break
      return [() => cancellationResponse(aggregate, cancellationOf(aggregate, asked.cancellation), product)]
    }
    case 'reinstatement': {
      const asked = operation.operation
      if (asked.action === 'create')
        return [() => cancellationResponse(aggregate, cancellationOf(aggregate, asked.cancellation), product)]
      return [
        () => reinstatementResponse(aggregate, reinstatementOf(aggregate, asked.reinstatement), product),
      ]
    }
    case 'lapse': {
      const asked = operation.operation
      if ('gracePeriod' in asked)
        return [() => gracePeriodResponse(aggregate, gracePeriodOf(aggregate, asked.gracePeriod), product)]
      if ('reinstatement' in asked)
        return [
          () => lapseReinstatementResponse(aggregate, lapseReinstatementOf(aggregate, asked.reinstatement)),
        ]
      break
    }
    case 'payment': {
      const asked = operation.operation
      if (asked.action === 'pay') return [() => invoiceResponse(aggregate, asked.invoice)]
      return [() => paymentResponse(aggregate, paymentNamed(aggregate, asked.payment))]
    }
  }
  return [false, true].map(summarizeQuotes => () => policyResponse(aggregate, product, { summarizeQuotes }))
}
