// Tables for rating, underwriting and plugins (resources brief 1.6). A resource that is in force at the time that its declaration
// names overrides the configuration's table. Look-ups are synchronous: missing rows are noted, fetched in one query, and everything
// is rated again. A tenant without tables causes no queries.
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { countText } from '../../kernel/text.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import type { LoadedConfiguration } from '../../product/cache.ts'
import type { SelectionBasis } from '../../product/resources.ts'
import {
  KEY_SEPARATOR,
  type Lookup,
  type LookupResult,
  type RowPlace,
  readLookUpKey,
} from '../../product/templates/effects.ts'
import { selectInForce } from '../resource.ts'
import { findRevision } from '../store.ts'
import { type Neighbours, rangeRecord } from './interpolation.ts'
import { reloadContents } from './loading.ts'
import { parseRangeQuery, type WantedRange } from './range-question.ts'
import * as records from './record-store.ts'
import { findContents } from './store.ts'
import { type TableRecord, TYPE_RULES } from './values.ts'

/** Thrown if table rows are missing. They are fetched, and the work is repeated. */
export class NeedsTableRows extends Error {}

export type TransactionTables = {
  /** `at` is a time that the script specifies. Without it, the declared time of the transaction applies. */
  lookup: Lookup
  /**
   * Queries a range table that is a resource in force; undefined if there is no record. Rejects with 422 names that no table has.
   */
  range(table: string, wanted: WantedRange): TableRecord | undefined | 'notLoaded'
  /** The tables that are resources in force, which replace the configuration's. */
  readonly names: readonly string[]
  /** The tables that are resources, in force or not. */
  readonly everNames: readonly string[]
  /** Returns the same tables in another jurisdiction, or in none. */
  in(jurisdiction: string | undefined): TransactionTables
}

/** Contents that were used to rate a transaction. */
export type RecordedUse = { readonly staticName: string; readonly name: string; readonly revision: Uuid }

const ALL = 'all tables'
const MOST_ROUNDS = 20

/** The tables for one operation, in all its attempts. */
export class RatingTables {
  readonly #context: RequestContext
  #candidates: ReadonlyMap<string, records.Candidate[]> = new Map()
  #groups: records.Candidates['groups'] = []
  /** By contents, column and key; null if there is no row. */
  readonly #values = new Map<string, string | null>()
  /** The lines of fetched rows, for explanations of look-ups. */
  readonly #lines = new Map<string, number>()
  #missing = new Map<string, { contents: number; key: string; valueAt: number }>()
  readonly #neighbours = new Map<string, Neighbours>()
  #missingNeighbours = new Map<string, records.WantedNeighbours>()
  #rounds = 0
  #opening: Promise<void> | undefined
  #used = new Set<records.Candidate>()
  readonly #recalled = new Map<Uuid, records.Candidate>()

  constructor(context: RequestContext) {
    this.#context = context
  }

  /** Reads which tables exist, unless the isolate knows or there are none. */
  open(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  /** Opens the tables together with a read, in one round trip if both use the same database. */
  async openWith<T>(read: Promise<T>): Promise<T> {
    const [result] = await Promise.all([read, this.open()])
    return result
  }

  async #open(): Promise<void> {
    const { tenant } = this.#context
    if (!tenant.hasTables) return
    const readAt = now()
    const candidates =
      records.knownCandidates(tenant, ALL) ?? (await records.findAllTables(homeDatabase(this.#context)))
    if (!records.knownCandidates(tenant, ALL)) records.keepCandidates(tenant, ALL, candidates, readAt)
    this.#candidates = Map.groupBy(candidates.tables, one => one.staticName)
    this.#groups = candidates.groups
  }

  /** Whether a look-up lacked rows, so that results that depend on it are provisional. */
  get isMissing(): boolean {
    return this.#missing.size + this.#missingNeighbours.size > 0
  }

  /** The tables that were read, each with its contents. */
  get used(): readonly records.Candidate[] {
    return [...this.#used]
  }

  assertComplete(): void {
    if (this.isMissing) throw new NeedsTableRows()
  }

  /**
   * Repeats `work` until no rows are missing. While rows are missing, any result is provisional, including failures. Code that
   * records a result must assert that the tables are complete.
   */
  async inRounds<T>(work: () => Promise<T>): Promise<T> {
    this.#rounds = 0
    for (;;) {
      this.#used = new Set()
      try {
        const result = await work()
        if (!this.isMissing) return result
      } catch (problem) {
        if (!this.isMissing) throw problem
      }
      await this.#fetch()
    }
  }

  /** Rejects with 422 if scripts need more rows in every round. */
  async #fetch(): Promise<void> {
    this.#rounds += 1
    if (this.#rounds > MOST_ROUNDS)
      throw new Refusal(
        'templateLimit',
        `Look-ups in tables depend on each other more than ${MOST_ROUNDS} levels deep; put values that belong together into one table.`,
      )
    await this.#fetchNeighbours()
    const wanted = [...this.#missing.values()]
    if (wanted.length === 0) return
    const found = await records.findRows(homeDatabase(this.#context), wanted)
    for (const { contents, key, valueAt } of wanted) {
      const row = found.get(`${contents}/${key}`) ?? null
      // Kept for the whole operation, unlike the bounded cache of the isolate.
      this.#values.set(`${contents}/${valueAt}/${key}`, row?.cells[valueAt] ?? null)
      if (row) this.#lines.set(`${contents}/${valueAt}/${key}`, row.line)
      records.knownRows.keep(row, this.#context.tenant, contents, key, '')
    }
    this.#missing = new Map()
  }

  async #fetchNeighbours(): Promise<void> {
    const wanted = [...this.#missingNeighbours.values()]
    if (wanted.length === 0) return
    const found = await records.findNeighbours(homeDatabase(this.#context), wanted)
    for (const one of wanted) {
      const near = found.get(records.neighboursKey(one))!
      this.#neighbours.set(records.neighboursKey(one), near)
      records.knownNeighbours.keep(near, this.#context.tenant, one.contents, one.key, one.bound)
    }
    this.#missingNeighbours = new Map()
  }

  /**
   * Returns tables with the contents that a transaction was rated with, for `of`. Rows that were replaced since then are loaded
   * again from their files. Leaves out contents that no longer exist; the contents in force now are then read instead.
   */
  async recalled(uses: readonly RecordedUse[]): Promise<records.Candidate[]> {
    const tables: records.Candidate[] = []
    for (const use of uses) {
      const present = this.#candidates.get(use.staticName)?.find(one => one.name === use.name)
      const known = present?.revision === use.revision ? present : this.#recalled.get(use.revision)
      const table = known ?? (present && (await this.#recall(present, use)))
      if (!table) continue
      this.#recalled.set(use.revision, table)
      tables.push(table)
    }
    return tables
  }

  async #recall(
    present: records.Candidate,
    { revision }: RecordedUse,
  ): Promise<records.Candidate | undefined> {
    const database = homeDatabase(this.#context)
    const kept = await findContents(database, revision)
    const stored = kept ? undefined : await findRevision(database, revision)
    const contents =
      kept ??
      (stored &&
        (await reloadContents(this.#context, database, stored, present.type as 'table' | 'rangeTable')))
    return contents && { ...present, revision, contents }
  }

  /**
   * Returns the tables of a transaction with these times and this jurisdiction. `product` selects the configuration's tables to
   * fall back on. `recorded` tables are read instead of those in force.
   */
  of(
    configuration: LoadedConfiguration,
    product: string,
    basis: SelectionBasis,
    recorded?: readonly records.Candidate[],
  ): TransactionTables {
    const inConfiguration = configuration.lookup(product)
    if (this.#candidates.size === 0) return tablesOfConfiguration(inConfiguration)
    const { tables = {}, rangeTables = {} } = configuration.configuration.resources ?? {}
    const declared = { ...rangeTables, ...tables }
    const inForce = (name: string, at: Instant | undefined): records.Candidate | undefined => {
      const timeBasis = Object.hasOwn(declared, name) ? declared[name]!.selectionTimeBasis : undefined
      const selecting = {
        at: at ?? basis[timeBasis ?? 'transactionEffectiveTime'],
        jurisdiction: basis.jurisdiction,
      }
      return selectInForce(this.#candidates.get(name) ?? [], this.#groups, selecting).chosen?.resource
    }
    const candidateFor = (name: string, at: Instant | undefined): records.Candidate | undefined => {
      const present = inForce(name, at)
      // A table that was not recorded was not a resource then, so the configuration's table is read.
      const then = recorded?.filter(one => one.staticName === name)
      return then ? (then.find(one => one.name === present?.name) ?? then[0]) : present
    }
    const lookup: Lookup = (name, key, at) => {
      const table = this.#candidates.has(name) ? candidateFor(name, at) : undefined
      if (table?.type !== 'table') return inConfiguration(name, key)
      this.#used.add(table)
      return this.#lookup(table, key)
    }
    lookup.rowOf = (name, key, at) => {
      const table = this.#candidates.has(name) ? candidateFor(name, at) : undefined
      return table?.type === 'table' ? this.#rowOf(table, key) : inConfiguration.rowOf?.(name, key)
    }
    const elsewhere = new Map<string | undefined, TransactionTables>()
    const transactionTables: TransactionTables = {
      in: jurisdiction => {
        const known =
          elsewhere.get(jurisdiction) ?? this.of(configuration, product, { ...basis, jurisdiction }, recorded)
        elsewhere.set(jurisdiction, known)
        return known
      },
      range: (name, wanted) => {
        const table = candidateFor(name, undefined)
        if (table?.type !== 'rangeTable') return undefined
        this.#used.add(table)
        return this.#range(table, wanted)
      },
      lookup,
      names: [...this.#candidates.keys()].filter(name => candidateFor(name, undefined)?.type === 'table'),
      everNames: [...this.#candidates.keys()],
    }
    elsewhere.set(basis.jurisdiction, transactionTables)
    return transactionTables
  }

  #range({ name, contents }: records.Candidate, asked: WantedRange) {
    const { number, layout, keyTypes } = contents
    const { key, exact, bound, operation, operations } = parseRangeQuery(name, layout, keyTypes, asked)
    if (key === undefined) return undefined
    const wanted = { contents: number, key, bound }
    const neighbours =
      this.#neighbours.get(records.neighboursKey(wanted)) ??
      records.knownNeighbours.get(this.#context.tenant, number, key, bound)
    if (neighbours) return rangeRecord(layout, neighbours, exact, operation, operations)
    this.#missingNeighbours.set(records.neighboursKey(wanted), wanted)
    return 'notLoaded' as const
  }

  #lookup(table: records.Candidate, text: string): LookupResult {
    const wanted = this.#wanted(table, text)
    if (wanted === undefined) return 'noSuchKey'
    const { number, key, valueAt, valueKey } = wanted
    const row = records.knownRows.get(this.#context.tenant, number, key, '')
    const inRow = row ? row.cells[valueAt] : row
    const value = this.#values.has(valueKey) ? this.#values.get(valueKey) : inRow
    if (value !== undefined) return value === null ? 'noSuchKey' : { value }
    this.#missing.set(valueKey, { contents: number, key, valueAt })
    return 'notLoaded'
  }

  /** The place of a row that a look-up found. */
  #rowOf(table: records.Candidate, text: string): RowPlace | undefined {
    const { number, key, valueKey } = this.#wanted(table, text) ?? {}
    if (number === undefined || key === undefined || valueKey === undefined) return undefined
    const line =
      this.#lines.get(valueKey) ?? records.knownRows.get(this.#context.tenant, number, key, '')?.line
    const { name, revision } = table
    return { resource: { name, revision }, ...(line !== undefined && { line }) }
  }

  /** The row and column of a look-up; undefined if no row can have such a key. */
  #wanted({ name, contents: { number, layout, keyTypes } }: records.Candidate, text: string) {
    const { keys, column } = readLookUpKey(text)
    const names = layout.columns.map(one => one.name)
    const wrong = (message: string): Refusal =>
      new Refusal('templateFailed', `A look-up in the table '${name}' ${message}.`)
    if (keys.length !== keyTypes.length)
      throw wrong(
        `needs ${countText(keyTypes.length, 'key')} (${layout.keys.map(at => names[at]).join(', ')}), but got ${keys.length}`,
      )
    const valueAt = column === undefined ? valueColumn(names, layout.keys) : names.indexOf(column)
    if (valueAt < 0)
      throw wrong(
        column === undefined
          ? `must name a column: none is named 'value', and more than one of ${names.map(one => `'${one}'`).join(', ')} is not a key`
          : `names the column '${column}', but it has ${names.map(one => `'${one}'`).join(', ')}`,
      )
    const parts = keys.map((one, at) => TYPE_RULES[keyTypes[at]!].canonical(one.trim()))
    if (parts.includes(undefined)) return undefined
    const key = parts.join(KEY_SEPARATOR)
    return { number, key, valueAt, valueKey: `${number}/${valueAt}/${key}` }
  }
}

/** The tables of a tenant whose resources include no tables. */
export function tablesOfConfiguration(lookup: Lookup): TransactionTables {
  const tables: TransactionTables = {
    lookup,
    range: () => undefined,
    names: [],
    everNames: [],
    in: () => tables,
  }
  return tables
}

/** `value`, or the only column that is not a key. */
function valueColumn(names: readonly string[], keys: readonly number[]): number {
  const others = [...names.keys()].filter(at => !keys.includes(at))
  const value = names.indexOf('value')
  if (others.includes(value)) return value
  return others.length === 1 ? others[0]! : -1
}
