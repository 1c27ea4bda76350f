import { DurableObject } from 'cloudflare:workers'
import { Refusal, refusalData } from '../src/kernel/errors.ts'
import { noCalls } from '../src/platform/calls.ts'
import { tenantNow } from '../src/platform/tenancy.ts'
import type { PolicyMemory } from '../src/transactions/object/memory.ts'
import type { PolicyMessage, PolicyReply } from '../src/transactions/object/message.ts'

/** Operations that may wait for one policy; more are refused at once. */
const LONGEST_LINE = 256

/**
 * One for each policy: its operations, one after the other, in the order in which they came. Correctness does
 * not rest on it (D1's guards see to that); what it holds in memory is a cache of its own policy's rows.
 */
export class PolicyObject extends DurableObject<Env> {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  readonly #memory: PolicyMemory = {}

  async execute(message: PolicyMessage): Promise<PolicyReply> {
    const calls = noCalls()
    if (this.#waiting >= LONGEST_LINE)
      return {
        calls,
        refusal: refusalData(
          new Refusal(
            'overloaded',
            `Over ${LONGEST_LINE} operations wait for this policy; try again.`,
            {},
            1,
          ),
        ),
      }
    this.#waiting += 1
    const turn = this.#last.then(() => this.#run(message, calls))
    this.#last = turn
    const reply = await turn
    this.#waiting -= 1
    return reply
  }

  async #run(message: PolicyMessage, calls: PolicyReply['calls']): Promise<PolicyReply> {
    const { tenant, caller, requestId, idempotency } = message
    const later = (work: Promise<unknown>): void => this.ctx.waitUntil(work)
    const context = {
      env: this.env,
      tenant,
      caller,
      requestId,
      idempotency,
      now: tenantNow(tenant),
      calls,
      later,
    }
    try {
      // Rules and rating are much code, which an isolate without objects never needs.
      const { execute } = await import('../src/transactions/object/execution.ts')
      return { calls, answer: await execute(context, message, this.#memory) }
    } catch (problem) {
      if (problem instanceof Refusal) return { calls, refusal: refusalData(problem) }
      console.error(
        JSON.stringify({
          at: 'policy object',
          requestId,
          operation: message.operation.kind,
          problem: problem instanceof Error ? (problem.stack ?? problem.message) : String(problem),
        }),
      )
      return { calls, refusal: refusalData(new Refusal('internal', 'The service failed; see referenceId.')) }
    }
  }
}
