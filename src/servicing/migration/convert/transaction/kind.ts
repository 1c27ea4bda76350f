// Which kind of modification a transaction becomes: by what it does, whatever it is called (rule 4 of resources brief 9.3).
import type { ModificationKind } from '../../../../policy/records/transactions.ts'
import type { Category } from '../history.ts'
import type { Carrying } from './carrying.ts'

const KINDS: Readonly<Record<Category, ModificationKind>> = {
  issuance: 'renewal',
  renewal: 'renewal',
  change: 'endorsement',
  reversal: 'endorsement',
  aggregate: 'endorsement',
  cancellation: 'cancellation',
  reinstatement: 'reinstatement',
}

/** `endsGap`: it covers what a cancellation left uncovered. */
export function kindOf({ transaction, isCreation }: Carrying, endsGap: boolean): ModificationKind {
  const { isGap, isFirstOfTerm, category, tree } = transaction
  if (isCreation) return 'creation'
  if (isFirstOfTerm) return 'renewal'
  if (isGap) return 'cancellation'
  if (endsGap) return 'reinstatement'
  const kind = KINDS[category]
  // A reinstatement of what is not cancelled, and what has no segment, change the policy like an endorsement.
  return kind === 'reinstatement' || kind === 'cancellation' || !tree ? 'endorsement' : kind
}
