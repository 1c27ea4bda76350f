// The plugin calls of one operation over its attempts, for a policy or none. What the last attempt wrote goes into the
// transaction's batch. Its log is stored and its custom events emitted even when the operation fails (resources brief 8.3).
import { auditRows } from '../../access/audit/store.ts'
import { Refusal } from '../../kernel/errors.ts'
import { newUuid, type PolicyLocator } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import { commit } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { auditOf, putAuxData, shardOfAuxData } from '../auxdata/store.ts'
import { fetchingFor } from './fetching.ts'
import { logRows } from './logs.ts'
import type { AuxWrite } from './runner.ts'
import { openSandbox, PluginSession } from './session.ts'

/** The shard of the operation. */
type Place = { readonly context: RequestContext; readonly database: Database; readonly shard: number }

export class PluginSessions {
  readonly #place: Place
  readonly #policy: PolicyLocator | undefined
  #last: PluginSession | undefined

  constructor(place: Place, policy?: PolicyLocator) {
    this.#place = place
    this.#policy = policy
  }

  /** Begins an attempt; the calls of the one before count no more. */
  begin(): PluginSession {
    const { context } = this.#place
    const open = () => openSandbox(context.env)
    this.#last = new PluginSession(open, context, fetchingFor(context), write => this.#problemOf(write))
    return this.#last
  }

  /** Data of a record in another shard cannot be written with the transaction. */
  #problemOf({ locator }: AuxWrite): string | undefined {
    const { context, shard } = this.#place
    if (shardOfAuxData(context.tenant, locator) === shard) return undefined
    return `A plugin set auxiliary data of '${locator}', which lies in another database than ${this.#policy === undefined ? 'data of no policy' : `policy ${this.#policy}`}, and so cannot be written with it.`
  }

  /** Queries for what the last attempt's calls write with the transaction. */
  facts(): Query[] {
    const { context, database, shard } = this.#place
    const writes = this.#last?.writes ?? []
    return [
      ...putAuxData(
        database,
        writes.map(({ plugin: _, ...write }) => write),
        context.now,
      ),
      ...auditRows(database, context, shard, auditOf(writes)),
    ]
  }

  /** Custom events of the last attempt. */
  events(): NewEvent[] {
    const policyLocator = this.#policy
    return (this.#last?.events ?? []).map(
      ({ type, data }): NewEvent => ({
        type,
        data: { ...data, ...(policyLocator !== undefined && { policyLocator: String(policyLocator) }) },
        policyLocator,
      }),
    )
  }

  /** Emits the custom events of a failed operation, in their own commit. */
  async tellOfFailure(): Promise<void> {
    const events = this.events()
    if (events.length === 0) return
    const { context, database, shard } = this.#place
    await commit({ ...context, idempotency: undefined }, database, {
      shard,
      guards: [],
      facts: [],
      events: events.map(event => ({ ...event, data: { ...event.data, operationFailed: 'true' } })),
      answer: { status: 200, text: '' },
      subject: String(this.#policy ?? ''),
    })
  }

  /** The refusal without the secrets that the last attempt's calls read; any other problem unchanged. */
  withoutSecrets(problem: unknown): unknown {
    const plugins = this.#last
    if (!(problem instanceof Refusal) || !plugins) return problem
    const { code, message, details, retryAfterSeconds } = problem
    const text = JSON.stringify(details)
    const isSecret = plugins.shown(text) !== text
    return new Refusal(code, plugins.shown(message), isSecret ? {} : details, retryAfterSeconds)
  }

  /** Stores the log after the answer. */
  keepLogs(): void {
    const logs = this.#last?.logs ?? []
    if (logs.length === 0) return
    const { context, database, shard } = this.#place
    // Entries of one time are listed by locator: in the order of the calls.
    const locators = logs.map(() => newUuid(shard)).sort()
    const rows = logs.map((log, at) => ({
      ...log,
      locator: locators[at]!,
      createdAt: context.now,
      at: now(),
      requestId: context.requestId,
      username: context.caller.username,
    }))
    context.later(database.batch(logRows(database, rows) as [Query, ...Query[]]))
  }
}
