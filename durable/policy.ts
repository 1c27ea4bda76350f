import { DurableObject } from 'cloudflare:workers'
import { Refusal } from '../src/kernel/errors.ts'
import { type ObjectReply, replyOf } from '../src/platform/objects.ts'
import { type Tenant, tenantNow } from '../src/platform/tenancy.ts'
import type { PolicyMessage, PolicyReply } from '../src/transactions/mechanism/message.ts'
import type { PolicyMemory, Recalled } from '../src/transactions/object/memory.ts'

/** The number of operations that may wait for one policy. Further ones are rejected immediately. */
const LONGEST_LINE = 256

/**
 * One object for each policy. It runs the operations of the policy one after the other, in order of arrival. Correctness does not
 * depend on this (D1's guards enforce it). Its memory is a cache of the policy's rows.
 */
export class PolicyObject extends DurableObject<Env> {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  readonly #memory: PolicyMemory = {}

  /**
   * Runs the operation after those that arrived before it. A Refusal is part of the reply: 503 `overloaded`, which changes nothing,
   * if `LONGEST_LINE` operations are in line.
   */
  async execute(message: PolicyMessage): Promise<PolicyReply> {
    if (this.#waiting >= LONGEST_LINE)
      return await replyOf({}, async () => {
        const full = `More than ${LONGEST_LINE} operations are waiting for this policy; try again.`
        throw new Refusal('overloaded', full, {}, 1)
      })
    this.#waiting += 1
    const turn = this.#last.then(() => this.#run(message))
    this.#last = turn
    const reply = await turn
    this.#waiting -= 1
    return reply
  }

  /** Returns what the object remembers of the policy if that is at least of this version, otherwise null. */
  recall(tenant: Tenant, version: number): Promise<ObjectReply<Recalled | null>> {
    return replyOf({ at: 'policy object', operation: 'recall' }, async () => {
      if (!this.#memory.loaded) return null
      const { recallPolicy } = await import('../src/transactions/object/memory.ts')
      return recallPolicy(this.#memory, tenant, version) ?? null
    })
  }

  #run(message: PolicyMessage): Promise<PolicyReply> {
    const { tenant, caller, requestId, idempotency, adds = false, operation, token } = message
    return replyOf({ at: 'policy object', requestId, operation: operation.kind }, async calls => {
      calls.token = token
      // Rules and rating are a lot of code, which an isolate without objects never needs.
      const { execute } = await import('../src/transactions/object/execution.ts')
      const later = (work: Promise<unknown>): void => this.ctx.waitUntil(work)
      const now = tenantNow(tenant)
      const context = { env: this.env, tenant, caller, requestId, idempotency, adds, now, calls, later }
      return await execute(context, message, this.#memory)
    })
  }
}
