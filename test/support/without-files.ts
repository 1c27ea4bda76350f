import type { PolicyResponse } from '../../src/policy/contract/response.ts'

/** Documents without their files, which are made after the answer, at addresses that are others each time. */
export function withoutFiles(policy: PolicyResponse): PolicyResponse {
  const bare = (list: PolicyResponse['documents']): PolicyResponse['documents'] =>
    list.map(one => ({ ...one, state: undefined, url: undefined, urlExpirationTimestamp: undefined }))
  return {
    ...policy,
    documents: bare(policy.documents),
    invoices: policy.invoices.map(invoice => ({ ...invoice, documents: bare(invoice.documents) })),
  }
}
