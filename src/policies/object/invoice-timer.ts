import { eq } from 'drizzle-orm'
import type { TimerOwner } from '../../events/timers.ts'
import { SYSTEM_CALLER } from '../../platform/context.ts'
import { refusalFrom } from '../../platform/errors.ts'
import { newUuid, type PolicyLocator } from '../../platform/locators.ts'
import { timers } from '../../platform/tables.ts'
import { policyObject } from '../../platform/tenancy.ts'
import type { PolicyReply } from './message.ts'

/** Has the policy's object invoice what is due by now; done twice, the second finds nothing to do. */
export const invoiceDue: TimerOwner = async ({ env, tenant, database, timer, calls }) => {
  const locator = Number(timer.subject) as PolicyLocator
  calls.object += 1
  const reply = (await policyObject(env, tenant, locator).execute({
    tenant,
    caller: SYSTEM_CALLER,
    requestId: newUuid(0),
    locator,
    operation: { kind: 'invoice' },
  })) as PolicyReply
  if ('refusal' in reply) throw refusalFrom(reply.refusal)
  await database.batch([database.build.delete(timers).where(eq(timers.locator, timer.locator))])
}
