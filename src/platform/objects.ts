// Durable Objects of a tenant: names, calls and replies. Every call counts as a round trip.

import {
  ERROR_KINDS,
  Refusal,
  type RefusalData,
  refusalData,
  refusalFrom,
  unavailable,
} from '../kernel/errors.ts'
import type { PolicyLocator, Uuid } from '../kernel/locators.ts'
import { addCalls, type Calls, noCalls } from './calls.ts'
import type { RequestContext } from './context.ts'
import { isInterruption, refusalOfFault } from './faults.ts'
import { isJurisdiction, type Place } from './tenancy/places.ts'
import { scope, shardName, type Tenant } from './tenancy.ts'

/** Returns the object that runs the operations of a policy. Makes no call. */
export const policyObject = (env: Env, tenant: Tenant, policy: PolicyLocator) =>
  placedObject(env, env.POLICY, tenant.place, `${scope(tenant)}/${policy}`)

/** Returns the object that leases the numbers of a shard and wakes its due work. Makes no call. */
export const dispatcherObject = (env: Env, tenant: Tenant, shard: number) =>
  placedObject(env, env.DISPATCHER, tenant.place, `${scope(tenant)}/${shard}`)

/** Returns the object that delivers the events of one shard to the webhook. Makes no call. */
export const webhookObject = (env: Env, tenant: Tenant, shard: number, webhook: Uuid) =>
  placedObject(env, env.DELIVERY, tenant.place, `${scope(tenant)}/${shard}/${webhook}`)

export const migrationObject = (env: Env, tenant: Tenant, migration: Uuid) =>
  placedObject(env, env.MIGRATION, tenant.place, `${scope(tenant)}/${migration}`)

export const impactObject = (env: Env, tenant: Tenant, impact: Uuid) =>
  placedObject(env, env.IMPACT, tenant.place, `${scope(tenant)}/${impact}`)

export const reportObject = (env: Env, tenant: Tenant, report: Uuid) =>
  placedObject(env, env.REPORT, tenant.place, `${scope(tenant)}/${report}`)

/**
 * Returns the named object, within the jurisdiction of the place or started near it. Local runtimes do not support jurisdictions.
 */
export function placedObject<T extends Rpc.DurableObjectBranded | undefined>(
  { ENVIRONMENT }: Pick<Env, 'ENVIRONMENT'>,
  namespace: DurableObjectNamespace<T>,
  place: Place,
  name: string,
): DurableObjectStub<T> {
  if (place === '' || ENVIRONMENT === 'local') return namespace.get(namespace.idFromName(name))
  if (!isJurisdiction(place)) return namespace.get(namespace.idFromName(name), { locationHint: place })
  const within = namespace.jurisdiction(place)
  return within.get(within.idFromName(name))
}

/** Counts the call, even if it fails. */
export async function callObject<T>(calls: Calls, call: () => Promise<T>): Promise<T> {
  calls.object += 1
  return await call()
}

/**
 * Sets the dispatcher to check at `at`, and then every minute until `until`: epoch milliseconds, real time. Returns the time until
 * which it checks. A dispatcher of an earlier release checks once.
 */
export async function armDispatcherAt(
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
  shard: number,
  at: number,
  until = at,
): Promise<number> {
  const name = shardName(tenant, shard)
  const watching = await callObject(calls, () => dispatcherObject(env, tenant, shard).arm(name, at, until))
  return watching ?? at
}

/** A response or rejection as data, with the calls that the object made. */
export type ObjectReply<Answer> = { calls: Calls } & ({ answer: Answer } | { refusal: RefusalData })

/**
 * Sends a message to an object and counts the object's own calls. `send` must get a new stub on each call. Throws the object's
 * Refusal, or 503 for a reply that this version of the code does not know.
 *
 * With `mayRepeat`, sends the message to an interrupted object once more, although the first one may have been carried out.
 */
export async function callForReply<Answer>(
  calls: Calls,
  send: () => Promise<ObjectReply<Answer>>,
  { mayRepeat = false } = {},
): Promise<Answer> {
  const reply = await callObject(calls, send).catch(async problem => {
    if (mayRepeat && isInterruption(problem)) return await callObject(calls, send)
    throw problem
  })
  if (!isReply(reply)) throw unavailable('The service is being updated; try again in a second.')
  addCalls(calls, reply.calls)
  if ('refusal' in reply) throw refusalFrom(reply.refusal)
  return reply.answer
}

/** Whether the reply is of a known form. During a rollout, the object may run older or newer code than the caller. */
function isReply<Answer>(reply: ObjectReply<Answer> | undefined): reply is ObjectReply<Answer> {
  if (typeof reply !== 'object' || reply === null || !('calls' in reply)) return false
  return 'answer' in reply || ('refusal' in reply && Object.hasOwn(ERROR_KINDS, reply.refusal.code))
}

/** The object's side of `callForReply`. Logs faults with `about`. The caller gets 503 for faults of the platform, otherwise `internal`. */
export async function replyOf<Answer>(
  about: Readonly<Record<string, unknown>>,
  work: (calls: Calls) => Promise<Answer>,
): Promise<ObjectReply<Answer>> {
  const calls = noCalls()
  try {
    return { calls, answer: await work(calls) }
  } catch (problem) {
    if (problem instanceof Refusal) return { calls, refusal: refusalData(problem) }
    const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
    console.error(JSON.stringify({ ...about, problem: text }))
    const refusal =
      refusalOfFault(problem, calls) ?? new Refusal('internal', 'The service failed; see referenceId.')
    return { calls, refusal: refusalData(refusal) }
  }
}
