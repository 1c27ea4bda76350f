// Commits what an operation planned: with what follows from any change (credit, documents, past-due timers, search
// terms), under the guards of all that the plan rests on (docs/design.md, section 5).
import { sql } from 'drizzle-orm'
import type { PluginSessions } from '../../extension/plugins/sessions.ts'
import { newUuid, shardOfDigits } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import {
  type AnswerBySubject,
  commit,
  type Guard,
  isBySubject,
  type JsonAnswer,
} from '../../platform/commit.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { termQueries } from '../../policy/list/store.ts'
import type { Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { differenceQueries } from '../../policy/store/aggregates.ts'
import { creditGuard } from '../../policy/store/loading.ts'
import { withMedia } from '../../policy/store/media.ts'
import { tableUseRows } from '../../policy/store/table-uses.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { policies } from '../../policy/tables/policies.ts'
import type { Policyholder } from '../../policyholders/policyholder.ts'
import { policyholders } from '../../policyholders/tables.ts'
import { configurationVersions } from '../../product/tables.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { coverEnds } from '../cancellations/effective.ts'
import { scheduleChanges } from '../custom-events/plan.ts'
import { hintDocuments, jobChange, jobQueries } from '../documents/job-store.ts'
import { withDocuments, withPostIssuance } from '../documents/planned.ts'
import { goneFileTimers } from '../documents/stored-files.ts'
import { pastDueTimers } from '../lapses/timers.ts'
import { EMPTY, json, type Response } from '../mechanism/kind.ts'
import { withGraceEnds } from '../payments/post-reversal.ts'
import { withCredit } from '../payments/settling.ts'
import { forget, type PolicyMemory, remember } from './memory.ts'

export type Recording = {
  before: PolicyAggregate | undefined
  loaded: Loaded
  planned: Planned
  attempt: Attempt
  response: Response
  /** The subject of the answer: the policy's locator, or `policy/quote`. */
  subject: string
  /** Whose writes and events go with it. */
  plugins: PluginSessions
}

/** Commits the plan, pays its invoices from the policyholder's credit, and remembers the result. */
export async function record(
  context: RequestContext,
  database: Database,
  memory: PolicyMemory,
  { before, loaded, planned: plan, attempt, response, subject, plugins }: Recording,
): Promise<JsonAnswer | AnswerBySubject> {
  const isAttended = context.caller.accountLocator !== SYSTEM_CALLER.accountLocator
  const graced = await withGraceEnds(before, loaded, plan, attempt, isAttended)
  const { planned, credit, restsOnCredit } = await withCredit(before, loaded, graced, attempt)
  const version = (before?.policy.version ?? 0) + 1
  const shard = shardOfDigits(planned.aggregate.policy.locator)
  const seen = await withMedia(context, before, planned.aggregate, loaded)
  const documentPlan = { product: loaded.product, now: context.now, uuid: () => newUuid(shard) }
  const drafted = withDocuments(before, { ...seen, policy: { ...seen.policy, version } }, documentPlan)
  const issued = { ...loaded, aggregate: drafted }
  const after = await withPostIssuance(before, issued, attempt, isAttended, documentPlan)
  const recorded = { ...loaded, aggregate: after, credit }
  attempt.tables?.assertComplete()
  const { customEvents } = loaded.configuration.configuration
  const scheduled = scheduleChanges(database, before, after, customEvents, context.now)
  const ended = coverEnds(before, after, context.now)
  const shown = response(recorded)
  const answer = shown === undefined ? EMPTY : json(shown)
  const committed = await commit(context, database, {
    shard,
    guards: [
      policyGuard(before, after),
      configurationGuard(after.policy.configVersion, loaded.configuration.hash),
      ...(wasPriced(before, after) ? [policyholderGuard(loaded.policyholder)] : []),
      ...(restsOnCredit ? [creditGuard(loaded.policyholder.locator, loaded.credit)] : []),
    ],
    facts: [
      ...differenceQueries(database, before, after, loaded.unread),
      ...termQueries(database, loaded.product, before, after, loaded.unread),
      ...plugins.facts(),
      ...tableUseRows(database, attempt.tables?.used ?? [], before, after, context.now),
      ...jobQueries(database, before, after, now()),
      ...scheduled.facts,
    ],
    events: [...planned.events, ...ended.events, ...plugins.events()],
    timers: [
      ...(planned.timers ?? []),
      ...ended.timers,
      ...scheduled.timers,
      ...pastDueTimers(before, after, loaded.product),
      ...goneFileTimers(before, after, context.now),
    ],
    answer,
    subject,
  })
  if (['more', 'progress'].includes(jobChange(before, after)))
    hintDocuments(context, shard, after.policy.locator)
  if (committed === answer && !isBySubject(committed)) remember(memory, recorded)
  else forget(memory)
  return committed
}

/** Whether anything was priced or decided again, by templates that may have read the policyholder. */
const wasPriced = (before: PolicyAggregate | undefined, after: PolicyAggregate): boolean =>
  [...after.modifications.values()].some(
    one => one.underwriting !== undefined && one !== before?.modifications.get(one.locator),
  )

const locatorGiven = sql.placeholder('locator')
const versionGiven = sql.placeholder('version')
const storedPolicy = sql`(select ${policies.version} from ${policies} where ${policies.locator} = ${locatorGiven})`
const POLICY_IS_NEW = sql`${storedPolicy} is null`
const POLICY_IS_UNCHANGED = sql`${storedPolicy} = ${versionGiven}`
const CONFIGURATION_IS_UNCHANGED = sql`(select ${configurationVersions.hash} from ${configurationVersions}
  where ${configurationVersions.version} = ${versionGiven}) = ${sql.placeholder('hash')}`
const POLICYHOLDER_IS_UNCHANGED = sql`(select ${policyholders.version} from ${policyholders}
  where ${policyholders.locator} = ${locatorGiven}) = ${versionGiven}`

/** The policy is as it was read, or is not there yet. */
function policyGuard(before: PolicyAggregate | undefined, { policy: { locator } }: PolicyAggregate): Guard {
  const name = 'guard_policy_version'
  if (!before) return { name, holds: POLICY_IS_NEW, values: { locator } }
  return { name, holds: POLICY_IS_UNCHANGED, values: { locator, version: before.policy.version } }
}

/** True in the batch while the version has the configuration that the plan used. */
const configurationGuard = (version: number, hash: string): Guard => ({
  name: 'guard_configuration_hash',
  holds: CONFIGURATION_IS_UNCHANGED,
  values: { version, hash },
})

/** The policyholder is as it was when the price was made of it. */
const policyholderGuard = ({ locator, version }: Policyholder): Guard => ({
  name: 'guard_policyholder_version',
  holds: POLICYHOLDER_IS_UNCHANGED,
  values: { locator, version },
})
