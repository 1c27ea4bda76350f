// The plugin calls of one attempt at an operation. If values are missing, they are fetched and the call is repeated from the start,
// so that tenant code is synchronous. Its writes wait for the transaction.
import { loadSandbox } from '../../bundles/load.ts'
import { Refusal } from '../../kernel/errors.ts'
import { isStorable, removeUnstorable } from '../../kernel/text.ts'
import { now as currentTime } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { SHORTEST_SECRET, withoutSecrets } from '../../platform/outbound/masking.ts'
import type { LoadedConfiguration } from '../../product/cache.ts'
import type { PluginFunction, ProductDefinition } from '../../product/configuration.ts'
import { type RowPlace, readDatedKey } from '../../product/templates/effects.ts'
import type { WantedRange } from '../../reference/data-tables/range-question.ts'
import {
  NeedsTableRows,
  type TransactionTables,
  tablesOfConfiguration,
} from '../../reference/data-tables/rating-tables.ts'
import { isolateRunner } from './runners/isolate.ts'
import { LONGEST_CALL_MS, LONGEST_REASON, MOST_ROUNDS } from './runners/limits.ts'
import { localRunner } from './runners/process-runner.ts'
import {
  type AuxWrite,
  type CallExplanation,
  type CallFailure,
  type CallOutcome,
  type CustomEvent,
  failed,
  type Known,
  type LogLine,
  type Missing,
  type PluginCall,
  type PluginRunner,
  timeoutOutcome,
} from './runners/runner.ts'

/** Fetches all missing values together. */
export type Fetching = (
  missing: readonly Missing[],
  locators: readonly string[],
  plugin: PluginFunction,
) => Promise<Known>

/** The policy or product on whose behalf a plugin is called. */
export type PluginSubject = {
  readonly configuration: LoadedConfiguration
  readonly configVersion: number
  readonly product: ProductDefinition
  readonly policyLocator?: string
  /** The tables of the transaction. If left out, those of the configuration. */
  readonly tables?: TransactionTables
}

type LoggedCall = {
  readonly plugin: PluginFunction
  readonly path: string
  readonly productName: string
  readonly configVersion: number
  readonly policyLocator: string | undefined
  readonly failure: string | undefined
  readonly lines: readonly LogLine[]
}

type PluginWrite = AuxWrite & { readonly plugin: PluginFunction }

export type CallContext = Pick<RequestContext, 'tenant' | 'now'>

export class AttemptCalls {
  readonly #open: () => Promise<Sandbox>
  readonly #context: CallContext
  readonly #fetching: Fetching
  readonly #problemOf: (write: AuxWrite) => string | undefined
  /** The transaction whose table rows are known; another one may see other rows. */
  #tables: TransactionTables | undefined
  #known: Known = { aux: [], auxLocators: [], entities: [], rows: [], ranges: [] }
  /** In call order. They are written with the transaction. */
  readonly writes: PluginWrite[] = []
  /** In call order, including those of a failed call. */
  readonly events: CustomEvent[] = []
  readonly logs: LoggedCall[] = []
  /** The values of all secrets that calls have read. */
  readonly #secrets = new Set<string>()
  /** How many writes, events and logs there were before the last call. */
  #before = { writes: 0, events: 0, logs: 0 }
  #last: readonly [subject: PluginSubject, name: PluginFunction] | undefined

  /** `problemOf` returns why a write cannot be part of the transaction, or undefined. */
  constructor(
    open: () => Promise<Sandbox>,
    context: CallContext,
    fetching: Fetching,
    problemOf: (write: AuxWrite) => string | undefined = () => undefined,
  ) {
    this.#open = open
    this.#context = context
    this.#fetching = fetching
    this.#problemOf = problemOf
  }

  /** Calls the product's function and returns its answer. Rejects with 422 if it fails or exceeds a limit. */
  async call(
    subject: PluginSubject,
    name: PluginFunction,
    given: readonly unknown[],
    explain?: (explained: PluginExplained) => void,
  ): Promise<unknown> {
    const { path } = subject.product.plugins[name]!
    this.#before = { writes: this.writes.length, events: this.events.length, logs: this.logs.length }
    this.#last = [subject, name]
    // Each call requests its secrets again, so that each read is audited.
    this.#known = { ...this.#known, secrets: [] }
    const outcome = await this.#outcomeOf(subject, name, path, given, explain !== undefined)
    for (const text of secretTexts(this.#known)) this.#secrets.add(text)
    const { logs, failure, writes, events, value, explained } = storableOutcome(outcome, name, this.#known)
    this.events.push(...events)
    const message =
      failure && `${failure.at ?? path}: ${failure.reason}`.slice(0, LONGEST_REASON).toWellFormed()
    if (logs.length > 0 || message !== undefined)
      this.logs.push({ ...logOf(subject, name), failure: message, lines: logs })
    if (failure)
      throw new Refusal(failure.limit ? 'pluginLimit' : 'pluginFailed', `Plugin ${name} failed: ${message}`)
    const problem = writes.map(this.#problemOf).find(one => one !== undefined)
    if (problem !== undefined) throw new Refusal('pluginFailed', this.shown(problem))
    if (explained) explain?.(withPlaces(explained, subject))
    this.writes.push(...writes.map(write => ({ ...write, plugin: name })))
    for (const { locator, key, value: text } of writes) this.#known.aux.push([locator, key, text])
    return value
  }

  /**
   * Continues without the last call's answer, or after its failure. Drops its writes, marks its events as those of a failure, and
   * logs the reason and the consequence.
   */
  disregard(subject: PluginSubject, name: PluginFunction, why: string): void {
    const { writes, events, logs } = this.#before
    const undone = this.writes.splice(writes).length
    if (undone > 0) this.#known.aux.splice(-undone)
    const failed = this.events
      .splice(events)
      .map(event => ({ ...event, data: { ...event.data, operationFailed: 'true' } }))
    this.events.push(...failed)
    const [logged] = this.logs.splice(logs)
    const failure = this.shown(why).slice(0, LONGEST_REASON).toWellFormed()
    this.logs.push({ ...(logged ?? logOf(subject, name)), failure })
  }

  /** Adds to the log of the last call why its answer was rejected, unless it already has a failure. */
  logRefusal(why: string): void {
    if (!this.#last) return
    const { logs } = this.#before
    const logged = this.logs[logs] ?? logOf(...this.#last)
    if (logged.failure !== undefined) return
    this.logs.splice(logs, 1, { ...logged, failure: this.shown(why).slice(0, LONGEST_REASON).toWellFormed() })
  }

  /** Masks the secrets that calls have read: a rejection quotes the answer. */
  shown(text: string): string {
    return withoutSecrets(text, [...this.#secrets])
  }

  async #outcomeOf(
    { configuration, configVersion, product, policyLocator, tables }: PluginSubject,
    name: PluginFunction,
    path: string,
    given: readonly unknown[],
    explains: boolean,
  ): Promise<CallOutcome> {
    if (tables !== this.#tables) Object.assign(this.#known, { rows: [], ranges: [] })
    this.#tables = tables
    const { tenant, now } = this.#context
    const { runner, programOf, longestCallMs = LONGEST_CALL_MS } = await this.#open()
    const program = programOf(configuration, tenant, configVersion)
    let gathers = false
    let mayGather = true
    let leftMs = longestCallMs
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const call: PluginCall = {
        product: product.name,
        path,
        function: name,
        arguments: given,
        now,
        seed: seedOf(`${policyLocator}/${name}/${now}`),
        known: this.#known,
        gathers,
        ...(explains && { explains }),
        // Only pricing fails on a missing row; other functions act on policies that are already sold.
        ...(product.strict && name === 'getPerilRates' && { isStrict: true }),
        resourceTables: tables?.names ?? [],
        datedTables: tables?.everNames ?? [],
      }
      // The clock moves while waiting for the sandbox, even in production.
      const began = currentTime()
      const outcome = await runner.run(program, call, leftMs)
      leftMs -= currentTime() - began
      const isAsking = outcome.missing.length > 0
      const isAtLimit = outcome.failure?.limit === true
      const isRepeated = isAsking || (gathers && isAtLimit)
      // The runner only knows the time limit of this round.
      if (leftMs <= 0 && (isAsking || isAtLimit)) return timeoutOutcome(longestCallMs)
      if (isAsking) {
        const { missing } = outcome
        await this.#fetch(
          missing,
          given,
          tables ?? tablesOfConfiguration(configuration.lookup(product.name)),
          name,
        )
        // A call that requests values again probably does so in a loop, for example a row for each vehicle.
        gathers = mayGather
        continue
      }
      if (!isRepeated) return outcome
      // Without the missing values it may have run into an endless loop.
      mayGather = false
      gathers = false
    }
    const reason = `requests more values in over ${MOST_ROUNDS} rounds; fetch values that belong together in one step`
    return failed({ reason, limit: true })
  }

  async #fetch(
    missing: readonly Missing[],
    given: readonly unknown[],
    { lookup, range }: TransactionTables,
    plugin: PluginFunction,
  ): Promise<void> {
    const rows = missing
      .filter(one => one.kind === 'row')
      .flatMap(one => {
        const { key, at } = readDatedKey(one.key)
        return keepAnswered(one, missing, () => lookup(one.table, key, at))
      })
    const ranges = missing
      .filter(one => one.kind === 'range')
      .flatMap(one =>
        keepAnswered(one, missing, () => range(one.table, JSON.parse(one.wanted) as WantedRange)),
      )
    if ([...rows, ...ranges].some(({ found }) => found === 'notLoaded')) throw new NeedsTableRows()
    for (const { table, key, found } of rows)
      this.#known.rows.push([table, key, typeof found === 'object' ? found.value : null])
    for (const { table, wanted, found } of ranges)
      this.#known.ranges?.push([table, wanted, found === undefined ? null : JSON.stringify(found)])
    const elsewhere = missing.filter(one => one.kind !== 'row' && one.kind !== 'range')
    if (elsewhere.length === 0) return
    const fetched = await this.#fetching(elsewhere, locatorsIn(given), plugin)
    const { aux, auxLocators, entities, secrets = [] } = fetched
    // This transaction's own writes come after the stored values and override them.
    this.#known = {
      ...this.#known,
      aux: [...aux, ...this.#known.aux],
      auxLocators: [...this.#known.auxLocators, ...auxLocators],
      entities: [...this.#known.entities, ...entities],
      secrets: [...(this.#known.secrets ?? []), ...secrets],
    }
  }
}

/** A call's explanation, with the place of the row of each look-up. */
export type PluginExplained = Omit<CallExplanation, 'lookups'> & {
  readonly lookups: readonly (CallExplanation['lookups'][number] & { readonly row: RowPlace | undefined })[]
}

function withPlaces(
  explained: CallExplanation,
  { configuration, product, tables }: PluginSubject,
): PluginExplained {
  const { rowOf } = tables?.lookup ?? configuration.lookup(product.name)
  const lookups = explained.lookups.map(lookup => {
    const { key, at } = readDatedKey(lookup.key)
    return { ...lookup, row: lookup.value === null ? undefined : rowOf?.(lookup.table, key, at) }
  })
  return { ...explained, lookups }
}

/** Keeps answered requests. Drops a rejected one that follows another: it may depend on a missing value, and comes again if not. */
function keepAnswered<M extends Missing, F>(
  one: M,
  missing: readonly Missing[],
  find: () => F,
): (M & { found: F })[] {
  try {
    return [{ ...one, found: find() }]
  } catch (problem) {
    if (one === missing[0] || !(problem instanceof Refusal)) throw problem
    return []
  }
}

const logOf = (
  { product, configVersion, policyLocator }: PluginSubject,
  plugin: PluginFunction,
): LoggedCall => ({
  plugin,
  path: product.plugins[plugin]!.path,
  productName: product.name,
  configVersion,
  policyLocator,
  failure: undefined,
  lines: [],
})

/**
 * The outcome with storable texts, and with `********` in place of secrets in its log, failure, events and the texts of its answer.
 * A lambda's answer is returned verbatim (brief 5.6). Data that cannot be stored counts as a failure.
 */
function storableOutcome(outcome: CallOutcome, name: PluginFunction, known: Known): CallOutcome {
  const secrets = secretTexts(known)
  const shown = (text: string): string => withoutSecrets(text, secrets)
  const stored = (text: string): string => shown(removeUnstorable(text))
  const { value, writes, logs, events, explained } = outcome
  const lost = writes.find(write => ![write.locator, write.key, write.value].every(isStorable))
  const unstorable = lost && {
    reason: `auxiliary data '${removeUnstorable(lost.key)}' has characters that cannot be stored: NUL, or half of a surrogate pair`,
  }
  const failure: CallFailure | undefined = outcome.failure ?? unstorable
  return {
    ...outcome,
    ...(secrets.length > 0 && name !== 'executeLambda' && { value: maskTexts(value, shown) }),
    failure: failure && { ...failure, reason: shown(failure.reason) },
    logs: logs.map(({ level, text }) => ({ level, text: stored(text) })),
    ...(explained && {
      explained: {
        ...explained,
        lookups: explained.lookups.map(one => ({ ...one, key: stored(one.key), table: stored(one.table) })),
        notes: explained.notes.map(({ label, value: text }) => ({
          label: stored(label),
          value: stored(text),
        })),
      },
    }),
    events: events.map(({ type, data }) => ({
      type,
      data: Object.fromEntries(
        Object.entries(data).map(([field, text]) => [removeUnstorable(field), stored(text)]),
      ),
    })),
  }
}

/** Masks only the rejection and the notes; amounts and names are unchanged. */
function maskTexts(answer: unknown, shown: (text: string) => string): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer
  const { exceptionMessage, notes } = answer as { exceptionMessage?: unknown; notes?: unknown }
  const shownIfText = (one: unknown): unknown => (typeof one === 'string' ? shown(one) : one)
  return {
    ...answer,
    ...(exceptionMessage !== undefined && { exceptionMessage: shownIfText(exceptionMessage) }),
    ...(notes !== undefined && { notes: Array.isArray(notes) ? notes.map(shownIfText) : shownIfText(notes) }),
  }
}

/** Every text and number in the secrets that were read. */
function secretTexts({ secrets = [] }: Known): string[] {
  const texts: string[] = []
  const waiting: unknown[] = secrets.map(([, , value]) => value)
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'object' && next !== null) waiting.push(...Object.values(next))
    else if (typeof next === 'string' || typeof next === 'number') texts.push(String(next))
  }
  return texts.filter(text => text.length >= SHORTEST_SECRET)
}

/** Every locator in the input: a plugin that requests data of one will request it of the others. */
function locatorsIn(given: unknown): string[] {
  const locators = new Set<string>()
  const waiting: unknown[] = [given]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    for (const [name, value] of Object.entries(next))
      if (typeof value !== 'string') waiting.push(value)
      else if (/locator$/i.test(name)) locators.add(value)
  }
  return [...locators]
}

/** A 32-bit hash of the text (FNV-1a). */
function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash | 0
}

export type Sandbox = {
  readonly runner: PluginRunner
  readonly programOf: typeof import('./runners/program.ts').pluginProgram
  /** Milliseconds that a call may take in all its rounds. If left out, LONGEST_CALL_MS. */
  readonly longestCallMs?: number
}

/** The sandbox that the variable PLUGIN_RUNNER selects: `isolate`, or else QuickJS in a separate process. */
export async function openSandbox(env: Env): Promise<Sandbox> {
  const { pluginProgram, workerCode } = await loadSandbox()
  const isIsolate = (env.PLUGIN_RUNNER as string) === 'isolate'
  const runner = isIsolate ? isolateRunner(env.LOADER, workerCode) : await localRunner(env)
  const { PLUGIN_CALL_MS: longest } = env
  return { runner, programOf: pluginProgram, ...(longest && { longestCallMs: Number(longest) }) }
}
