// A policy's life without a service: the kinds of operations that the policy's object runs, over a policy in memory and a
// separate clock. Timers that fall due between two operations are carried out in their order. Nothing is stored, and no other
// service is called: plugins read the given values, and their writes are kept here.
// Uses no files and no processes: the sandbox is passed in, so that tests can compare a life with the service in the service's
// own runtime.

import { AttemptCalls, type Sandbox } from '../../src/extension/plugins/attempt-calls.ts'
import type { LogLine } from '../../src/extension/plugins/runners/runner.ts'
import { asPluginInput } from '../../src/extension/plugins/translation.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import {
  digitLocator,
  FIRST_SEQUENCE,
  type LocatorSupply,
  locatorSupply,
  newUuid,
  type PolicyLocator,
  readDigits,
  readUuid,
  supplyOf,
} from '../../src/kernel/locators.ts'
import { type Money, zero } from '../../src/kernel/money.ts'
import { type Instant, later } from '../../src/kernel/time.ts'
import type { NewTimer } from '../../src/platform/commit.ts'
import { type Caller, type RequestContext, SYSTEM_CALLER } from '../../src/platform/context.ts'
import type { Database } from '../../src/platform/database.ts'
import type { NewEvent } from '../../src/platform/events/outbox.ts'
import type { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { digitsForNewDraft } from '../../src/policy/records/transactions.ts'
import type { Loaded, NewPolicyContext } from '../../src/policy/surroundings.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import {
  changePolicyholderValues,
  type Policyholder,
  policyholderResponse,
} from '../../src/policyholders/values.ts'
import type { LoadedConfiguration, StaticFiles } from '../../src/product/cache.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import type { Attempt } from '../../src/rating/rate.ts'
import { Autofill } from '../../src/transactions/autofill/fill.ts'
import { pluginRecords } from '../../src/transactions/kinds.ts'
import { kindNamed, type PolicyOperation, showPolicy } from '../../src/transactions/mechanism/kind.ts'
import { withConsequences } from '../../src/transactions/object/consequences.ts'
import { operationOfTimer } from '../../src/transactions/object/policy-timers.ts'
import { RefusedPayOut } from '../../src/transactions/payments/kind.ts'
import { auxName, type Given, GivenTables, givenFetching, givenRater, type WatchLookup } from './given.ts'
import { waitingTexts } from './texts.ts'

/** The surroundings of a life. */
export type LifeWorld = {
  readonly configuration: LoadedConfiguration
  readonly given: Given
  readonly openSandbox: () => Promise<Sandbox>
  /** The files below static_documents of the product. */
  readonly staticFiles: (productName: string) => StaticFiles
  /** Receives each lookup in a table. */
  readonly watchLookup?: WatchLookup
  /** Returns whether it took a line of a plugin's log that is not the plugin's own. */
  readonly takeLog?: (text: string) => boolean
}

/** Auxiliary data that a plugin wrote, which the service would have stored. */
export type AuxData = { readonly locator: string; readonly key: string; readonly value: string }

export type PluginLog = LogLine & { readonly plugin: string }

/** The maximum number of timers within one step of time, so that a product whose timers never end does not run forever. */
const MOST_TIMERS = 10_000

const AUTHOR: Caller = {
  accountLocator: newUuid(0),
  username: 'scenario',
  accountType: 'account.tenant.employee',
}

export class PolicyLife {
  readonly #world: LifeWorld
  #now: Instant
  #holder: Policyholder
  #loaded: Loaded | undefined
  #credit: Money
  #sequence = FIRST_SEQUENCE
  #timers = new Map<string, NewTimer>()
  /** Timers that changed the policy. The service carries out each once: its locator is the idempotency key of the write. */
  readonly #effectiveTimers = new Set<string>()
  readonly #written = new Map<string, string>()
  /** In the order in which they were emitted. */
  readonly events: NewEvent[] = []
  /** In the order in which plugins wrote them. */
  readonly auxData: AuxData[] = []
  readonly logs: PluginLog[] = []
  /** Requests for values that are not given, each once. */
  readonly notes = new Set<string>()
  /** By the document's locator. Undefined for a file that already was a PDF. */
  readonly texts = new Map<string, string | undefined>()

  /** `values` are the policyholder's. Rejects with 400 values that the dictionary does not permit. */
  constructor(world: LifeWorld, now: Instant, values: unknown) {
    const { configuration } = world.configuration
    this.#world = world
    this.#now = now
    this.#credit = zero(configuration.currency)
    this.#holder = newHolder(configuration, values, now)
  }

  get now(): Instant {
    return this.#now
  }

  get credit(): Money {
    return this.#credit
  }

  get policyholder(): Policyholder {
    return this.#holder
  }

  get isBegun(): boolean {
    return this.#loaded !== undefined
  }

  /** The policy in its current state. Throws before it is created. */
  get loaded(): Loaded {
    if (!this.#loaded) throw new Error('There is no policy yet.')
    return this.#loaded
  }

  get aggregate(): PolicyAggregate {
    return this.loaded.aggregate
  }

  get configuration(): Configuration {
    return this.#world.configuration.configuration
  }

  /** Creates the policy. Throws a Refusal, as the service does. */
  async create(request: PolicyCreateRequest): Promise<unknown> {
    const digits = this.#lease(digitsForNewDraft(request.exposures))
    return await this.carryOut({ kind: 'create', request, digits, summarizeQuotes: false })
  }

  /**
   * Carries out and records the operation, and returns the service's response. Throws a Refusal, as the service does, and then
   * records nothing.
   */
  async carryOut(operation: PolicyOperation, caller: Caller = AUTHOR): Promise<unknown> {
    const answer = await this.#attempt(operation, caller)
    await this.#makeTexts()
    if (caller !== SYSTEM_CALLER) await this.advance(this.#now)
    return answer
  }

  /** Lets time pass. Timers that fall due are carried out, each at its time. */
  async advance(to: Instant): Promise<void> {
    for (let fired = 0; ; fired += 1) {
      const due = [...this.#timers].filter(([, timer]) => firesAt(timer) <= to).sort(byTime)[0]
      if (!due) break
      if (fired === MOST_TIMERS)
        throw new Refusal(
          'policyLimit',
          `More than ${MOST_TIMERS} timers of the policy fall due in the same step.`,
        )
      const [name, timer] = due
      this.#timers.delete(name)
      if (this.#effectiveTimers.has(name)) continue
      this.#now = later(this.#now, firesAt(timer))
      const before = this.#loaded
      await this.carryOut(operationOfTimer(timer), SYSTEM_CALLER)
      if (this.#loaded !== before) this.#effectiveTimers.add(name)
    }
    this.#now = later(this.#now, to)
  }

  /** Changes the policyholder like an update of a completed one. Rejects wrong values with 400. */
  updateHolder(values: unknown): void {
    const { entity, version } = this.#holder
    const changed = holderValues(this.configuration, entity.values, values, this.#now, true)
    this.#holder = {
      ...this.#holder,
      version: version + 1,
      entity: { ...entity, values: changed },
      updatedAt: this.#now,
    }
    if (this.#loaded) this.#loaded = { ...this.#loaded, policyholder: this.#holder }
  }

  /** Returns the data of a new policy's surroundings, as the service would read it. Rejects an unknown product with 400. */
  surroundings(productName: string): NewPolicyContext {
    const { configuration } = this.#world
    const { products, timeZone, currency } = configuration.configuration
    if (!Object.hasOwn(products, productName))
      throw new Refusal(
        'invalidRequest',
        `There is no product '${productName}'. The configuration has ${Object.keys(products).join(', ')}.`,
      )
    return {
      policyholder: this.#holder,
      configuration,
      configVersion: 1,
      timeZone,
      currency,
      product: products[productName]!,
      credit: this.#credit,
    }
  }

  async #attempt(operation: PolicyOperation, caller: Caller): Promise<unknown> {
    const context = this.#context(caller)
    const kind = kindNamed(operation.kind)
    const locator = (this.#loaded?.aggregate.policy.locator ??
      (operation.kind === 'create' ? operation.digits[0] : undefined)) as PolicyLocator
    const plugins = this.#calls(context)
    const tables = this.#tables(context)
    const autofill = new Autofill(context, locator, plugins, tables)
    const lease = async (count: number): Promise<number[]> => this.#lease(count)
    const supplyFor = (count: number): LocatorSupply =>
      supplyOf(locator, locatorSupply(0, this.#lease(count)))
    const attemptWith = (supply: LocatorSupply): Attempt => ({
      now: this.#now,
      supply,
      digits: async count => supplyFor(count),
      plugins,
      externalRater: async name => this.#rater(name),
      tables,
    })
    // Only an upgrade to another configuration reads stored data, and no kind that is carried out here does.
    const database = undefined as unknown as Database
    try {
      if ('begin' in kind) {
        const begun = await kind.begin(operation, {
          context,
          database,
          autofill,
          lease,
          attemptWith,
          surroundings: async ({ productName }) => this.surroundings(productName),
        })
        return await this.#record(undefined, begun.loaded, begun, context, plugins)
      }
      const { loaded } = this
      const filled = (await kind.fill?.(operation, loaded, autofill)) ?? operation
      const attempt = attemptWith(supplyFor(kind.locators?.(filled) ?? 0))
      const decided = async () => await kind.decide(loaded, filled, { attempt, autofill, context, database })
      const outcome = await autofill.explaining(decided()).catch(async (problem: unknown) => {
        if (problem instanceof RefusedPayOut)
          await this.#record(
            loaded.aggregate,
            loaded,
            { planned: problem.planned, attempt },
            context,
            plugins,
          )
        throw problem
      })
      if (!outcome) return undefined
      if ('answer' in outcome)
        return 'text' in outcome.answer ? JSON.parse(outcome.answer.text || 'null') : undefined
      const { planned, response = showPolicy(), loaded: other = loaded } = outcome
      return await this.#record(loaded.aggregate, other, { planned, attempt, response }, context, plugins)
    } finally {
      this.#keepLogs(plugins)
    }
  }

  async #record(
    before: PolicyAggregate | undefined,
    loaded: Loaded,
    {
      planned,
      attempt,
      response,
    }: { planned: Planned; attempt: Attempt; response?: (loaded: Loaded) => unknown },
    { caller }: RequestContext,
    plugins: AttemptCalls,
  ): Promise<unknown> {
    const from = { ...loaded, aggregate: planned.aggregate }
    const { after, credit, events, timers, schedules } = await withConsequences(
      before,
      from,
      planned,
      attempt,
      { isAttended: caller !== SYSTEM_CALLER, withMedia: async aggregate => aggregate },
    )
    this.#loaded = { ...from, aggregate: after, credit }
    this.#credit = credit
    this.events.push(...events, ...plugins.events.map(({ type, data }) => ({ type, data })))
    for (const { locator, key, value } of plugins.writes) {
      this.#written.set(auxName(locator, key), value)
      this.auxData.push({ locator, key, value })
    }
    for (const { type } of schedules)
      for (const [name, { kind, payload, dueAt }] of this.#timers)
        if (kind === 'event.schedule' && payload.type === type && dueAt > this.#now) this.#timers.delete(name)
    for (const timer of timers) this.#timers.set(timer.locator ?? newUuid(0), timer)
    return response?.(this.#loaded)
  }

  /** The service creates documents right after the operation. */
  async #makeTexts(): Promise<void> {
    if (!this.#loaded) return
    const context = this.#context(SYSTEM_CALLER)
    for (;;) {
      const made = await waitingTexts(this.#loaded, {
        context,
        tables: this.#tables(context),
        files: this.#world.staticFiles(this.#loaded.product.name),
        earlier: this.texts,
      })
      if (made.length === 0) return
      for (const { made: one, text } of made) this.texts.set(one.locator, text)
      await this.#attempt({ kind: 'documentsMade', made: made.map(one => one.made) }, SYSTEM_CALLER)
    }
  }

  #rater(name: string): ReturnType<typeof givenRater> | undefined {
    const rates = this.#world.given.raters[name]
    if (rates) return givenRater(name, rates)
    this.notes.add(`Rated without the external rater '${name}', because no rates are given for it.`)
    return undefined
  }

  #calls(context: RequestContext): AttemptCalls {
    const missed = (what: string): void =>
      void this.notes.add(`A plugin requested ${what}, which is not given.`)
    const fetching = givenFetching(
      this.#world.given,
      this.#written,
      (entity, locator) => this.#shown(entity, locator),
      missed,
    )
    return new AttemptCalls(this.#world.openSandbox, context, fetching)
  }

  /** Returns a record as plugins read it: of this policy or its policyholder. */
  #shown(entity: string, text: string): unknown {
    try {
      return asPluginInput(this.#recordOf(entity, text))
    } catch (problem) {
      if (problem instanceof Refusal && problem.code === 'notFound') return undefined
      throw problem
    }
  }

  #recordOf(entity: string, text: string): unknown {
    if (entity === 'Policyholder')
      return text === this.#holder.locator ? policyholderResponse(this.#holder) : undefined
    if (!this.#loaded) return undefined
    const { aggregate, product } = this.#loaded
    const policy = () => policyResponse(aggregate, product, { summarizeQuotes: false })
    if (entity === 'Policy') return text === String(aggregate.policy.locator) ? policy() : undefined
    if (entity === 'Invoice') return policy().invoices.find(invoice => invoice.locator === text)
    const record = pluginRecords()[entity]
    if (!record) return undefined
    if (record.form === 'uuid') {
      const locator = readUuid(text)
      return locator && record.show(locator)(this.#loaded)
    }
    const digits = readDigits(text)
    return digits === undefined ? undefined : record.show(digits)(this.#loaded)
  }

  #keepLogs(plugins: AttemptCalls): void {
    for (const { plugin, failure, lines } of plugins.logs) {
      const own = lines.filter(({ text }) => !this.#world.takeLog?.(text))
      this.logs.push(...own.map(line => ({ ...line, plugin })))
      if (failure !== undefined) this.logs.push({ plugin, level: 'error', text: failure })
    }
  }

  #tables = (context: RequestContext): GivenTables =>
    new GivenTables(context, this.#world.given, this.#world.watchLookup)

  /** Creates a tenant that consists only of its configuration: no database, no files and no services. */
  #context(caller: Caller): RequestContext {
    const tenant = { locator: TENANT, generation: 1, hasTables: false, shards: [] }
    return { tenant, caller, now: this.#now, env: {}, calls: {} } as unknown as RequestContext
  }

  #lease(count: number): number[] {
    return Array.from({ length: Math.max(0, count) }, () => digitLocator(this.#sequence++, 0))
  }
}

/**
 * The service carries out a timer a moment after it falls due, so one due at the last millisecond of a day runs on the next day.
 * Here it runs at the next full second.
 */
const firesAt = ({ dueAt }: NewTimer): Instant => (Math.ceil(dueAt / 1_000) * 1_000) as Instant

/** The same for all lives, because the runner caches programs by it. */
const TENANT = newUuid(0)

/** The order in which the service claims them: the end of a policy comes after its reminders. */
function byTime([aName, a]: [string, NewTimer], [bName, b]: [string, NewTimer]): number {
  if (a.dueAt !== b.dueAt) return a.dueAt - b.dueAt
  if (a.kind !== b.kind) return a.kind < b.kind ? 1 : -1
  return aName < bName ? -1 : 1
}

function newHolder(configuration: Configuration, values: unknown, now: Instant): Policyholder {
  const locator = newUuid(0)
  return {
    locator,
    version: 1,
    completed: true,
    accountLocator: newUuid(0),
    entity: { locator, values: holderValues(configuration, {}, values, now, false), subEntities: [] },
    createdAt: now,
    updatedAt: now,
  }
}

function holderValues(
  { policyholderFields, timeZone }: Configuration,
  current: Policyholder['entity']['values'],
  values: unknown,
  now: Instant,
  wasCompleted: boolean,
): Policyholder['entity']['values'] {
  const changed = changePolicyholderValues(policyholderFields, current, values, {
    completed: true,
    wasCompleted,
    timeZone,
    now,
  })
  if (changed.errors.length === 0) return changed.values
  throw new Refusal('invalidRequest', changed.errors.map(({ message }) => message).join(' '))
}
