import type { PolicyResponse } from '../../src/policy/contract/response.ts'

/** Removes the files of documents: they are generated after the response, and their URLs differ each time. */
export function withoutFiles(policy: PolicyResponse): PolicyResponse {
  const bare = (list: PolicyResponse['documents']): PolicyResponse['documents'] =>
    list.map(one => ({ ...one, state: undefined, url: undefined, urlExpirationTimestamp: undefined }))
  return {
    ...policy,
    documents: bare(policy.documents),
    invoices: policy.invoices.map(invoice => ({ ...invoice, documents: bare(invoice.documents) })),
  }
}
