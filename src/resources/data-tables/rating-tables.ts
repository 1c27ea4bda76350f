// Tables as rating, underwriting and plugins use them (resources brief 1.6): of a static name, the resource in force at the
// time that its declaration names wins over the configuration's table. Look-ups are synchronous; what is not at hand is
// noted, fetched in one query for all, and everything is rated again. A tenant without tables is asked nothing.
import type { LoadedConfiguration } from '../../configuration/cache.ts'
import type { RequestContext } from '../../platform/context.ts'
import { Refusal } from '../../platform/errors.ts'
import { type Instant, now } from '../../platform/time.ts'
import type { LookupResult } from '../../rating/liquid/environment.ts'
import { selectInForce } from '../selection.ts'
import { homeDatabase } from '../store.ts'
import {
  type Candidate,
  type Candidates,
  keepCandidates,
  keepRow,
  knownCandidates,
  knownRow,
} from './cache.ts'
import type { SelectionTimeBasis } from './declaration.ts'
import { findAllTables, findRows } from './record-store.ts'
import { NeedsTableRows } from './table-rows.ts'
import { TYPE_RULES } from './values.ts'

/** Which time of a transaction is which. */
export type TableTimes = Readonly<Record<SelectionTimeBasis, Instant>>

/** Look-ups of one transaction. */
export type TransactionTables = {
  /** `at` is a time that the script names; else the declared one of the transaction decides. */
  lookup(table: string, key: string, at?: Instant): LookupResult
  /** The tables that are resources in force: the configuration is not asked for them. */
  readonly names: readonly string[]
}

const ALL = 'all tables'
const MOST_ROUNDS = 20

/** The tables of one operation, over its attempts. */
export class RatingTables {
  readonly #context: RequestContext
  #candidates: ReadonlyMap<string, Candidate[]> = new Map()
  #groups: Candidates['groups'] = []
  /** By contents and key: the value of a row, or null where there is none. */
  readonly #values = new Map<string, string | null>()
  #missing = new Map<string, { contents: number; key: string; valueAt: number }>()
  #rounds = 0
  #used = new Set<Candidate>()

  constructor(context: RequestContext) {
    this.#context = context
  }

  /** Reads which tables there are, unless the isolate knows or there are none. */
  async open(): Promise<void> {
    const { tenant } = this.#context
    if (!tenant.hasTables) return
    const readAt = now()
    const known = knownCandidates(tenant, ALL) ?? (await findAllTables(homeDatabase(this.#context)))
    if (!knownCandidates(tenant, ALL)) keepCandidates(tenant, ALL, known, readAt)
    this.#candidates = Map.groupBy(known.tables, one => one.staticName)
    this.#groups = known.groups
  }

  /** Whether something was looked up that is not at hand: what rests on it is provisional. */
  get isMissing(): boolean {
    return this.#missing.size > 0
  }

  /** The tables that were read, each with the contents that it has. */
  get used(): readonly Candidate[] {
    return [...this.#used]
  }

  assertComplete(): void {
    if (this.isMissing) throw new NeedsTableRows()
  }

  /**
   * Whatever comes of `work` while rows are missing is provisional, a failure too: they are fetched, and it is done
   * again. What records something asserts that it is complete before.
   */
  async inRounds<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      this.#used = new Set()
      try {
        const made = await work()
        if (!this.isMissing) return made
      } catch (problem) {
        if (!this.isMissing) throw problem
      }
      await this.#fetch()
    }
  }

  /** For another round. Refuses (422) where scripts ask for more in every round. */
  async #fetch(): Promise<void> {
    this.#rounds += 1
    if (this.#rounds > MOST_ROUNDS)
      throw new Refusal(
        'templateLimit',
        `Look-ups in tables depend on each other more than ${MOST_ROUNDS} deep; put what belongs together into one table.`,
      )
    const wanted = [...this.#missing.values()]
    const found = await findRows(homeDatabase(this.#context), wanted)
    for (const { contents, key, valueAt } of wanted) {
      const row = found.get(`${contents}/${key}`) ?? null
      // What the isolate keeps is bounded; this is kept for as long as the operation.
      this.#values.set(`${contents}/${key}`, row?.cells[valueAt] ?? null)
      keepRow(this.#context.tenant, contents, key, '', row)
    }
    this.#missing = new Map()
  }

  /** For a transaction with these times; `product` names whose tables of the configuration stand behind. */
  of(configuration: LoadedConfiguration, product: string, times: TableTimes): TransactionTables {
    const inConfiguration = configuration.lookup(product)
    if (this.#candidates.size === 0) return { lookup: inConfiguration, names: [] }
    const declared = configuration.configuration.resources?.tables ?? {}
    const chosen = (name: string, at: Instant | undefined): Candidate | undefined => {
      const basis = Object.hasOwn(declared, name) ? declared[name]!.selectionTimeBasis : undefined
      const time = at ?? times[basis ?? 'transactionEffectiveTime']
      return selectInForce(this.#candidates.get(name) ?? [], this.#groups, { at: time }).chosen?.resource
    }
    return {
      lookup: (name, key, at) => {
        const table = this.#candidates.has(name) ? chosen(name, at) : undefined
        if (!table) return inConfiguration(name, key)
        this.#used.add(table)
        return this.#lookup(table, key)
      },
      names: [...this.#candidates.keys()].filter(name => chosen(name, undefined) !== undefined),
    }
  }

  #known(contents: number, key: string, valueAt: number): string | null | undefined {
    const row = knownRow(this.#context.tenant, contents, key, '')
    return row === undefined || row === null ? row : row.cells[valueAt]
  }

  #lookup({ name, contents: { number, layout, keyTypes } }: Candidate, text: string): LookupResult {
    const valueAt = valueColumn(
      layout.columns.map(column => column.name),
      layout.keys,
    )
    if (keyTypes.length !== 1 || valueAt < 0)
      throw new Refusal(
        'templateFailed',
        `The table '${name}' has ${keyTypes.length} keys and ${layout.columns.length} columns; a look-up needs one key, and a column 'value' or no more than one other.`,
      )
    const key = TYPE_RULES[keyTypes[0]!].canonical(text.trim())
    if (key === undefined) return 'noSuchKey'
    const fetched = this.#values.get(`${number}/${key}`)
    const value = fetched === undefined ? this.#known(number, key, valueAt) : fetched
    if (value !== undefined) return value === null ? 'noSuchKey' : { value }
    this.#missing.set(`${number}/${key}`, { contents: number, key, valueAt })
    return 'notLoaded'
  }
}

/** `value`, or the only column that is no key. */
function valueColumn(names: readonly string[], keys: readonly number[]): number {
  const others = [...names.keys()].filter(at => !keys.includes(at))
  const value = names.indexOf('value')
  return value >= 0 && !keys.includes(value) ? value : others.length === 1 ? others[0]! : -1
}
