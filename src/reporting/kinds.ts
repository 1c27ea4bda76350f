// All reports. To add one, add a value in kinds/ and a line here.
import type { ReportKind } from './kind.ts'
import { bordereau } from './kinds/bordereau.ts'
import { conversion, retention } from './kinds/business.ts'
import { charges, ledger } from './kinds/charges.ts'
import { inForce } from './kinds/in-force.ts'
import { payments, receivables } from './kinds/money.ts'
import { earnedPremium, writtenPremium } from './kinds/premiums.ts'

export const REPORT_KINDS: readonly ReportKind[] = [
  writtenPremium,
  earnedPremium,
  charges,
  inForce,
  receivables,
  payments,
  bordereau,
  retention,
  conversion,
  ledger,
]
