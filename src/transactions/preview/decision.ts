// Previews a transaction: runs the plans that carry it out, to the end, and records nothing.
import { underwritingResponse } from '../../policy/projection/characteristics.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/rate.ts'
import { allKinds, conflictsOf, type PreviewOf } from '../mechanism/kind.ts'
import { recordedPriceChange } from '../mechanism/price-change.ts'
import { withCredit } from '../payments/settling.ts'
import type { PolicyPreview, PolicyPreviewResponse } from './contract.ts'
import { previewedInvoices } from './invoices.ts'

/** Refuses like the transaction itself, except for underwriting's decision and for conflicts. */
export async function decidePreview(
  loaded: Loaded,
  preview: PolicyPreview,
  attempt: Attempt,
): Promise<PolicyPreviewResponse> {
  const { product } = loaded
  const { planned, modificationLocator } = await previewed(preview).carryOut(loaded, preview.request, attempt)
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

/** How the transaction is carried out; its kind knows. */
export function previewed({ kind }: PolicyPreview): PreviewOf<PolicyPreview['request']> {
  const found = allKinds().find(one => one.previews?.[kind])
  if (!found) throw new Error(`No kind of operation has a preview of '${kind}'.`)
  return found.previews![kind] as unknown as PreviewOf<PolicyPreview['request']>
}
