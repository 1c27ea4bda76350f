// The kinds of operations on a policy. To add one, write its folder and add its value here.
import type { PluginRecords } from '../extension/plugins/transaction-records.ts'
import { coverEndKind } from './cancellations/cover-end.ts'
import { cancellationKind } from './cancellations/kind.ts'
import { scheduledEventKind } from './custom-events/plan.ts'
import { documentKinds } from './documents/kinds.ts'
import { endorsementKind } from './endorsements/kind.ts'
import { feesKind } from './fees/fee-update.ts'
import { amountDueKind, lapseKind } from './lapses/kind.ts'
import { registerKinds } from './mechanism/kind.ts'
import { changeKind } from './mechanism/price-change.ts'
import { newBusinessKinds } from './new-business/decision.ts'
import { billingKinds } from './payments/kind.ts'
import { quoteKind } from './quotes/decision.ts'
import { reinstatementKind } from './reinstatements/kind.ts'
import { paymentScheduleKind } from './schedule/schedule-change.ts'
import { termEndKind } from './term-end.ts'
import { upgradeKind } from './upgrade/decision.ts'

/** Conflicts created at the same time are invalidated in this order. */
export const KINDS = registerKinds([
  ...newBusinessKinds,
  quoteKind,
  endorsementKind,
  cancellationKind,
  reinstatementKind,
  lapseKind,
  amountDueKind,
  ...billingKinds,
  feesKind,
  paymentScheduleKind,
  upgradeKind,
  changeKind,
  ...documentKinds,
  coverEndKind,
  scheduledEventKind,
  termEndKind,
])

/** Returns the records of all kinds, by the names that plugins use. */
export const pluginRecords = (): PluginRecords => Object.assign({}, ...KINDS.map(kind => kind.pluginRecords))
