// Durable Objects of a tenant: how they are named, called and answer. Every call is counted as a round trip.

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

export const policyObject = (env: Env, tenant: Tenant, policy: PolicyLocator) =>
  placedObject(env, env.POLICY, tenant.place, `${scope(tenant)}/${policy}`)

export const dispatcherObject = (env: Env, tenant: Tenant, shard: number) =>
  placedObject(env, env.DISPATCHER, tenant.place, `${scope(tenant)}/${shard}`)

export const webhookObject = (env: Env, tenant: Tenant, shard: number, webhook: Uuid) =>
  placedObject(env, env.DELIVERY, tenant.place, `${scope(tenant)}/${shard}/${webhook}`)

export const migrationObject = (env: Env, tenant: Tenant, migration: Uuid) =>
  placedObject(env, env.MIGRATION, tenant.place, `${scope(tenant)}/${migration}`)

/**
 * The object of that name, in the place: within its border, or begun near it. On one machine (`ENVIRONMENT` is `local`) there
 * are no borders, and the runtime refuses to draw one.
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

/** Calls an object; counts the round trip. */
export async function callObject<T>(calls: Calls, call: () => Promise<T>): Promise<T> {
  calls.object += 1
  return await call()
}

/** Has the shard's dispatcher look when `at` (epoch milliseconds, real time) has come. */
export const armDispatcherAt = (
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
  shard: number,
  at: number,
): Promise<void> =>
  callObject(calls, () => dispatcherObject(env, tenant, shard).arm(shardName(tenant, shard), at))

/** The reply of an object: an answer or a refusal as data, and the calls that it made. */
export type ObjectReply<Answer> = { calls: Calls } & ({ answer: Answer } | { refusal: RefusalData })

/**
 * Sends a message to an object, and counts the calls that the object made, too. `send` gets a new stub each time. Throws the object's
 * Refusal, or 503 for a reply that this version of the code does not know. Where the object was interrupted, a message that `mayRepeat`
 * is sent once more: the first may have been carried out.
 */
export async function ask<Answer>(
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

/** While a new version is rolled out, the object may run older or newer code than the caller. */
function isReply<Answer>(reply: ObjectReply<Answer> | undefined): reply is ObjectReply<Answer> {
  if (typeof reply !== 'object' || reply === null || !('calls' in reply)) return false
  return 'answer' in reply || ('refusal' in reply && Object.hasOwn(ERROR_KINDS, reply.refusal.code))
}

/**
 * The object's side of `ask`. A fault is logged with `about`; the caller gets 503 for one of the platform, and else the Refusal
 * `internal`.
 */
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
    const refusal = refusalOfFault(problem) ?? new Refusal('internal', 'The service failed; see referenceId.')
    return { calls, refusal: refusalData(refusal) }
  }
}
