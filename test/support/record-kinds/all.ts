import { invoiceKind, paymentKind } from './billing.ts'
import { gracePeriodKind, lapseReinstatementKind } from './lapses.ts'
import { policyKind, quoteKind } from './new-business.ts'
import type { RecordKind } from './record-kind.ts'
import { cancellationKind, endorsementKind, reinstatementKind, renewalKind } from './transactions.ts'

/** Every kind of record that has a transition table. */
export const RECORD_KINDS: readonly RecordKind[] = [
  policyKind,
  quoteKind,
  invoiceKind,
  paymentKind,
  endorsementKind,
  renewalKind,
  cancellationKind,
  reinstatementKind,
  gracePeriodKind,
  lapseReinstatementKind,
]
