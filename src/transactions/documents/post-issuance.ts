// Asks the product's plugin what is to become of the documents of a transaction that is issued (getPostIssuanceResult).

import { nonsense } from '../../extension/plugins/answers.ts'
import type { PostIssuanceInput } from '../../extension/plugins/contract.ts'
import { asPluginInput } from '../../extension/plugins/input.ts'
import { documentResponse } from '../../policy/projection/documents.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { hasPlugin } from '../../product/plugins.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { askPlugin, askPluginUnattended, policyInfo } from '../../rating/plugin-call.ts'
import {
  type Consolidation,
  consolidationProblems,
  type Issuance,
  issuances,
  withConsolidations,
} from './consolidation.ts'
import type { DocumentPlan } from './planned.ts'

/**
 * The policy with the consolidated documents that the plugin asks for, called once for each transaction that the
 * change issues, when its documents are known and before any is made. Refuses (422) what the plugin fails with; from the
 * clock (`isAttended` false) that is logged, and the documents stay as they are.
 */
export async function withPostIssuance(
  before: PolicyAggregate | undefined,
  loaded: Loaded,
  attempt: Attempt,
  isAttended: boolean,
  plan: DocumentPlan,
): Promise<PolicyAggregate> {
  let { aggregate } = loaded
  if (!hasPlugin(loaded.product, 'getPostIssuanceResult')) return aggregate
  for (const issuance of issuances(before, aggregate)) {
    const question = {
      name: 'getPostIssuanceResult' as const,
      answer: (contract: typeof import('../../extension/plugins/contract.ts')) => contract.PostIssuanceResult,
      input: inputOf(issuance, aggregate),
    }
    const accept = ({ documentConsolidations = [] }: { documentConsolidations?: Consolidation[] }) => {
      const problems = consolidationProblems(issuance, documentConsolidations)
      if (problems.length > 0)
        throw nonsense('getPostIssuanceResult', problems, loaded.product.plugins.getPostIssuanceResult!.path)
      return documentConsolidations
    }
    const consolidations = isAttended
      ? await askPlugin(loaded, attempt, question, accept)
      : await askPluginUnattended(loaded, attempt, question, accept, 'The documents stay as they are.')
    aggregate = withConsolidations(aggregate, issuance, consolidations ?? [], plan)
  }
  return aggregate
}

/** Addresses of files are none of the plugin's, which can open none. */
const inputOf = ({ operation, documents }: Issuance, aggregate: PolicyAggregate): PostIssuanceInput => ({
  operation,
  policyLocator: String(aggregate.policy.locator),
  policy: policyInfo(aggregate),
  tenantTimeZone: aggregate.policy.timeZone,
  documents: documents.map(document => {
    const { url: _, urlExpirationTimestamp: _expiration, ...shown } = documentResponse(document)
    return asPluginInput(shown) as PostIssuanceInput['documents'][number]
  }),
})
