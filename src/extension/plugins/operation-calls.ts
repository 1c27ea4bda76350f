// The plugin calls of one operation in all its attempts. The last attempt's writes become part of the transaction's batch. Its log
// is stored and its custom events are emitted even if the operation fails (resources brief 8.3).
import { auditRows } from '../../access/audit/store.ts'
import { Refusal } from '../../kernel/errors.ts'
import {
  newUuid,
  type PolicyLocator,
  readDigits,
  readUuid,
  shardOfDigits,
  shardOfUuid,
  type Uuid,
} from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import { commit } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { policyholderQuery } from '../../policyholders/store.ts'
import { policyholderResponse } from '../../policyholders/values.ts'
import { secretsForPlugin } from '../../reference/secrets/sending.ts'
import {
  type AuxRow,
  auditOf,
  auxPairsQuery,
  auxRowsQuery,
  deleteAllAuxData,
  putAuxData,
  shardOfAuxData,
} from '../auxdata/store.ts'
import { AttemptCalls, type Fetching, openSandbox } from './attempt-calls.ts'
import { logRows } from './logs.ts'
import type { AuxWrite, Known } from './runners/runner.ts'
import { type PluginRecord, transactionRecords } from './transaction-records.ts'
import { asPluginInput, pluginPolicy } from './translation.ts'

/** Up to this many rows of auxiliary data, all of a locator are fetched together; otherwise only the requested keys. */
const MOST_OF_A_LOCATOR = 200

/** Returns the record as its GET shows it, or null if the text is not a valid locator. */
type Reader = (context: RequestContext, text: string) => Promise<unknown>

const byUuid =
  (read: (context: RequestContext, database: Database, locator: Uuid) => Promise<unknown>): Reader =>
  async (context, text) => {
    const locator = readUuid(text)
    if (!locator) return null
    const database = databaseOf(context, shardOfUuid(locator))
    return database && (await read(context, database, locator))
  }

const readerOf =
  (record: PluginRecord): Reader =>
  async (context, text) => {
    if (record.form === 'uuid')
      return await byUuid(async (_, database, locator) =>
        record.show(locator)(await loadPolicy(context, database, record.select(locator))),
      )(context, text)
    const digits = readDigits(text)
    if (digits === undefined) return null
    const database = databaseOf(context, shardOfDigits(digits))
    return database && record.show(digits)(await loadPolicy(context, database, record.select(digits)))
  }

const databaseOf = ({ env, tenant, calls }: RequestContext, shard: number): Database | null =>
  shard < tenant.shards.length ? shardDatabase(env, tenant, shard, calls) : null

const wholePolicy = ({ aggregate, product }: Loaded) =>
  policyResponse(aggregate, product, { summarizeQuotes: false })

const READERS: Readonly<Record<string, Reader>> = {
  Policy: readerOf({
    form: 'digits',
    select: digits => ({ locator: digits as PolicyLocator }),
    show: () => loaded => pluginPolicy(wholePolicy(loaded), loaded.aggregate),
  }),
  Policyholder: byUuid(async (_context, database, locator) => {
    const [rows] = await database.batch([policyholderQuery(database, locator)])
    return rows[0] ? policyholderResponse(rows[0]) : null
  }),
  Invoice: byUuid(async (context, database, locator) => {
    const loaded = await loadPolicy(context, database, { invoiceLocator: locator })
    return wholePolicy(loaded).invoices.find(invoice => invoice.locator === locator) ?? null
  }),
}

/**
 * Fetches missing values. `locators` are those in the call's input: a plugin that requests a key of one will request it of the
 * next, so the key is fetched for all of them.
 */
const fetcherFor =
  ({ context, mayReadSecrets = true }: Place): Fetching =>
  async (missing, locators, plugin) => {
    const aux = missing.filter(one => one.kind === 'aux')
    const entities = missing.filter(one => one.kind === 'entity')
    const secrets = missing.filter(one => one.kind === 'secret')
    if (secrets[0] && !mayReadSecrets) throw secretWithheld(plugin, secrets[0].staticName)
    const [found, records, items] = await Promise.all([
      auxDataOf(context, aux, locators),
      Promise.all(
        entities.map(
          async ({ entity, locator }) => [entity, locator, await recordOf(context, entity, locator)] as const,
        ),
      ),
      secrets.length === 0 ? [] : secretsForPlugin(context, secrets, plugin),
    ])
    return { ...found, entities: records, rows: [], secrets: items }
  }

/** Returns the record in the form for plugins; null if there is none. */
async function recordOf(context: RequestContext, entity: string, locator: string): Promise<unknown> {
  try {
    const read = READERS[entity] ?? readerOf((await transactionRecords())[entity]!)
    return asPluginInput(await read(context, locator))
  } catch (problem) {
    if (problem instanceof Refusal && problem.code === 'notFound') return null
    throw problem
  }
}

type Asked = { readonly locator: string; readonly key: string }

const nameOf = ({ locator, key }: Asked): string => JSON.stringify([locator, key])

/** The requested keys with their values, which are `''` if there are none. */
function knownAux(asked: readonly Asked[], rows: readonly AuxRow[]): Known['aux'] {
  const values = new Map(rows.map(row => [nameOf(row), row.value]))
  return asked.map(one => [one.locator, one.key, values.get(nameOf(one)) ?? ''] as const)
}

/**
 * If a single value is requested: all data of its locator, and the same key of the other locators in the input. If several are
 * requested: only those keys, because all data of several locators could have any size.
 */
async function auxDataOf(
  { env, tenant, calls }: RequestContext,
  asked: readonly Asked[],
  inInput: readonly string[],
): Promise<Pick<Known, 'aux' | 'auxLocators'>> {
  const single = asked.length === 1 ? asked[0] : undefined
  const otherLocators = single ? inInput.filter(one => one !== single.locator) : []
  const wanted = [...asked, ...otherLocators.map(locator => ({ locator, key: single!.key }))]
  const byShard = Map.groupBy(wanted, ({ locator }) => shardOfAuxData(tenant, locator))
  const known: Pick<Known, 'aux' | 'auxLocators'> = { aux: [], auxLocators: [] }
  await Promise.all(
    [...byShard].map(async ([shard, pairs]) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const wholeLocators = single && pairs.includes(single) ? [single.locator] : []
      const [named, all] = await database.batch([
        auxPairsQuery(database, pairs),
        ...wholeLocators.map(locator => auxRowsQuery(database, locator, MOST_OF_A_LOCATOR + 1)),
      ])
      known.aux.push(...knownAux(pairs, named))
      if (!all || all.length > MOST_OF_A_LOCATOR) return
      known.aux.push(...all.map(row => [row.locator, row.key, row.value] as const))
      known.auxLocators.push(...wholeLocators)
    }),
  )
  return known
}

const secretWithheld = (plugin: string, staticName: string): Refusal =>
  new Refusal(
    'pluginFailed',
    `Plugin ${plugin} reads the secret '${staticName.slice(0, 128).toWellFormed()}'. Scripts of an archive that is not deployed may do so only if the account that sends it has the permission secrets.read.`,
  )

type Place = {
  readonly context: RequestContext
  readonly database: Database
  readonly shard: number
  /** False for scripts that are not deployed and whose author may not read secrets. By default they may. */
  readonly mayReadSecrets?: boolean
}

export class OperationCalls {
  readonly #place: Place
  readonly #policy: PolicyLocator | undefined
  #last: AttemptCalls | undefined

  constructor(place: Place, policy?: PolicyLocator) {
    this.#place = place
    this.#policy = policy
  }

  /** Begins an attempt and discards the calls of the previous one. */
  begin(): AttemptCalls {
    const { context } = this.#place
    const open = () => openSandbox(context.env)
    this.#last = new AttemptCalls(open, context, fetcherFor(this.#place), write => this.#problemOf(write))
    return this.#last
  }

  /** Data of a record in another shard cannot be written together with the transaction. */
  #problemOf({ locator }: AuxWrite): string | undefined {
    const { context, shard } = this.#place
    if (shardOfAuxData(context.tenant, locator) === shard) return undefined
    return `A plugin set auxiliary data of '${locator}', which is in a different database from ${this.#policy === undefined ? 'data that belongs to no policy' : `policy ${this.#policy}`} and so cannot be written together with it.`
  }

  facts(): Query[] {
    const { context, database, shard } = this.#place
    const writes = this.#last?.writes ?? []
    if (writes.length === 0) return []
    // If a key is removed, values that were set before the removal do not count.
    const removedAt = new Map<string, number>()
    for (const [at, one] of writes.entries()) if (one.removes) removedAt.set(nameOf(one), at)
    const removals = writes.filter(write => write.removes)
    const changes = writes.filter((write, at) => !write.removes && at > (removedAt.get(nameOf(write)) ?? -1))
    const audits = [...auditOf(removals, 'auxdata.delete'), ...auditOf(changes)]
    return [
      ...deleteAllAuxData(database, removals),
      ...putAuxData(
        database,
        changes.map(({ plugin: _, ...change }) => change),
        context.now,
      ),
      ...auditRows(database, context, shard, audits),
    ]
  }

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
  async emitFailureEvents(): Promise<void> {
    const events = this.events()
    if (events.length === 0) return
    const { context, database, shard } = this.#place
    await commit({ ...context, idempotency: undefined }, database, {
      shard,
      guards: [],
      facts: [],
      events: events.map(event => ({ ...event, data: { ...event.data, operationFailed: 'true' } })),
      subject: String(this.#policy ?? ''),
    })
  }

  /**
   * Returns the error that ended the operation, with secrets masked that the last attempt's calls read. If a plugin's answer was
   * rejected, also logs why.
   */
  failed(problem: unknown): unknown {
    const plugins = this.#last
    if (!(problem instanceof Refusal) || !plugins) return problem
    const { code, message, details, retryAfterSeconds } = problem
    const text = JSON.stringify(details)
    const isSecret = plugins.shown(text) !== text
    if (code === 'pluginFailed') plugins.logRefusal(message)
    return new Refusal(code, plugins.shown(message), isSecret ? {} : details, retryAfterSeconds)
  }

  /** Stores the log after the response is sent. */
  keepLogs(): void {
    const logs = this.#last?.logs ?? []
    if (logs.length === 0) return
    const { context, database, shard } = this.#place
    // Entries with the same time are listed by locator, so sorted locators keep the order of the calls.
    const locators = logs.map(() => newUuid(shard)).sort()
    const rows = logs.map((log, at) => ({
      ...log,
      locator: locators[at]!,
      createdAt: context.now,
      at: now(),
      requestId: context.requestId,
      username: context.caller.username,
    }))
    context.later(
      database
        .batch(logRows(database, rows) as [Query, ...Query[]])
        .catch(problem =>
          console.error(
            JSON.stringify({ at: 'pluginLogs', requestId: context.requestId, problem: String(problem) }),
          ),
        ),
    )
  }
}
