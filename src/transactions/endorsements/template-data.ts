// An endorsement or renewal as templates read it (brief 5.3).
import { withLazy } from '../../policy/projection/characteristics.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { templateRecord } from '../../rating/template-data.ts'
import { policyUpdates } from '../documents/policy-updates.ts'
import { transactionResponse } from './projection.ts'

/** Returns `data.endorsement` or `data.renewal`. Its changes are computed when they are first read. */
export function transactionData(
  aggregate: PolicyAggregate,
  transaction: Endorsement,
  product: ProductDefinition,
): object {
  const data = {
    ...templateRecord(transactionResponse(aggregate, transaction, product)),
    display_id: String(transaction.locator),
    name: transaction.name,
    start_timestamp: transaction.startAt,
    end_timestamp: transaction.endAt ?? null,
  }
  return withLazy(data, 'policy_updates', () => policyUpdates(aggregate, transaction, product))
}
