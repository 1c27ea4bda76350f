// What a transaction would come to: the plans that carry it out, to the end, and recorded nowhere.

import { notFound } from '../../kernel/errors.ts'
import { type CancellationLocator, readDigits, type Uuid } from '../../kernel/locators.ts'
import type { Planned } from '../../policy/planned.ts'
import { underwritingResponse } from '../../policy/projection/parts.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { foreseenCancellation } from '../cancellations/decision.ts'
import { recordedPriceChange } from '../cancellations/projection.ts'
import { conflictsOf } from '../conflicts.ts'
import { foreseen } from '../endorsements/decision.ts'
import { endorsementOf } from '../endorsements/endorsement-of.ts'
import { withCredit } from '../payments/credit.ts'
import { foreseenReinstatement } from '../reinstatements/decision.ts'
import type { PolicyPreview, PolicyPreviewResponse } from './contract.ts'
import { previewedInvoices } from './invoices.ts'

/** Refuses as the transaction itself would be, but for what underwriting says and for what stands in its way. */
export async function decidePreview(
  loaded: Loaded,
  preview: PolicyPreview,
  attempt: Attempt,
): Promise<PolicyPreviewResponse> {
  const { product } = loaded
  const { planned, modificationLocator } = await carriedOut(loaded, preview, attempt)
  const { aggregate } = (await withCredit(loaded.aggregate, loaded, planned, attempt)).planned
  const modification = aggregate.modifications.get(modificationLocator)!
  const { underwriting } = modification
  return {
    price: recordedPriceChange(aggregate, modification, product),
    policyWhenIssued: policyResponse(aggregate, product, { summarizeQuotes: false }),
    automatedUnderwritingResult: underwriting && underwritingResponse(underwriting),
    invoices: previewedInvoices(loaded.aggregate, aggregate),
    conflicts: conflictsOf(loaded.aggregate),
  }
}

/** It is carried out; with the modification that it is. */
async function carriedOut(
  loaded: Loaded,
  preview: PolicyPreview,
  attempt: Attempt,
): Promise<{ planned: Planned; modificationLocator: Uuid }> {
  switch (preview.kind) {
    case 'endorsement':
    case 'renewal': {
      const { planned, endorsement } = await foreseen(
        loaded,
        preview.kind === 'endorsement'
          ? { action: 'create', request: preview.request }
          : { action: 'renew', request: preview.request },
        attempt,
      )
      const { modificationLocator } = endorsementOf(planned.aggregate, endorsement)
      return { planned, modificationLocator: modificationLocator! }
    }
    case 'cancellation': {
      const { planned, cancellation } = await foreseenCancellation(loaded, preview.request, attempt)
      const { modificationLocator } = planned.aggregate.cancellations.get(cancellation)!
      return { planned, modificationLocator: modificationLocator! }
    }
    case 'reinstatement': {
      const { cancellationLocator: text, ...request } = preview.request
      const cancellation = readDigits(text)
      if (cancellation === undefined) throw notFound('cancellation', text)
      const of = cancellation as CancellationLocator
      const { planned, reinstatement } = await foreseenReinstatement(loaded, of, request, attempt)
      const { modificationLocator } = planned.aggregate.reinstatements.get(reinstatement)!
      return { planned, modificationLocator: modificationLocator! }
    }
  }
}
