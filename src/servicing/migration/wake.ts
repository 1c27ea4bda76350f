// Who works on a migration is its object; here it is told that there is something to do.
import { shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { callObject, migrationObject } from '../../platform/objects.ts'
import { shardName } from '../../platform/tenancy.ts'

/** For the batch that gives the migration something to do: should the call be lost, the timer makes it again. */
export const runTimer = (migration: Uuid, dueAt: Instant): NewTimer => ({
  kind: 'migration.run',
  subject: migration,
  dueAt,
  payload: {},
})

type WakeContext = Pick<RequestContext, 'env' | 'tenant' | 'calls'>

export async function wakeMigration({ env, tenant, calls }: WakeContext, migration: Uuid): Promise<void> {
  const shard = shardName(tenant, shardOfUuid(migration))
  await callObject(calls, () => migrationObject(env, tenant, migration).wake(shard, migration))
}

/** Lets the account that is under way be done with; answers when it is. */
export async function haltMigration({ env, tenant, calls }: WakeContext, migration: Uuid): Promise<void> {
  await callObject(calls, () => migrationObject(env, tenant, migration).halt())
}

/** When the timer is due. */
export const migrationDue: TimerOwner = ({ subject }, place) => wakeMigration(place, subject as Uuid)
