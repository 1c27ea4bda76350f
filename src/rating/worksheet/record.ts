// Keeps what rating shows of its steps while it runs, for a worksheet. Made only if one is requested.
import type {
  ObservedAssignment,
  ObservedBranch,
  ObservedFilter,
  ObservedRead,
  Place,
  RenderingObserver,
} from '../../../packages/liquid/observation.ts'
import { LiquidNumber, printedText } from '../../../packages/liquid/values.ts'
import type { PluginExplained } from '../../extension/plugins/attempt-calls.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Decimal } from '../../kernel/money.ts'
import { shortened } from '../../kernel/text.ts'
import {
  type ExplainQuery,
  MOST_EXPLAINED_PERILS,
  type WorksheetLookup,
  type WorksheetStep,
} from '../../policy/contract/worksheet.ts'
import type { Peril, PerilPrice, PerilRun } from '../../policy/records/aggregate.ts'
import type { LoadedConfiguration } from '../../product/cache.ts'
import { effectFilters, type LookupDetail, type RowPlace } from '../../product/templates/effects.ts'
import type { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import type { SegmentRate } from '../contract-external.ts'
import type { RecordedRates } from '../rates.ts'

/** Maximum number of steps of one template. A loop may take more. */
const MOST_STEPS = 300

/** Maximum length of a value, in characters. */
const LONGEST_VALUE = 200

/** Maximum length of the request to an external rater, and of its answer, in characters. */
const LONGEST_BODY = 100_000

/** Maximum number of steps in one answer, over all templates. Each has some hundred characters. */
const MOST_STEPS_IN_ALL = 20_000

/** The perils to explain: those of an exposure, a single one, or the first ones. */
export type Selection = Pick<ExplainQuery, 'exposureLocator' | 'perilLocator'>

/** The rate of a part of a run, as a plugin or external rater gave it. */
export type GivenPart = {
  readonly characteristicsLocator: string
  readonly months: Decimal
  readonly rate: SegmentRate
}

export type RatedBy = 'template' | 'plugin' | 'externalRater'

export type TaxRecord = {
  readonly name: string
  readonly steps: Steps
  readonly amount: Decimal | undefined
}

/** One run, as it was rated. */
export type RunRecord = {
  readonly ratedBy: RatedBy
  readonly source: string
  readonly configVersion: number
  readonly steps: Steps | undefined
  readonly parts: readonly GivenPart[]
  readonly rates: RecordedRates
  readonly months: Decimal
  readonly price: PerilPrice
  readonly taxes: readonly TaxRecord[]
}

export type CallRecord = {
  readonly modification: Uuid
  readonly ratedBy: 'plugin' | 'externalRater'
  readonly source: string
  readonly explained?: PluginExplained
  readonly request?: string
  readonly answer?: string
}

export type FeeScriptRecord = {
  readonly modification: Uuid
  readonly steps: Steps
  readonly fees: readonly { readonly name: string; readonly amount: Decimal }[]
}

/** Everything that one answer explains, over all transactions that it rates. */
export class RatingRecord {
  readonly selection: Selection
  readonly runs = new Map<Uuid, RunRecord>()
  /** Transactions that are rated. Runs that they made and that have no record were not rated but continued. */
  readonly transactions = new Set<Uuid>()
  readonly calls: CallRecord[] = []
  readonly feeScripts: FeeScriptRecord[] = []
  /** Why a transaction could not be rated again. */
  readonly problems = new Map<Uuid, string>()
  readonly notes: string[] = []
  readonly #given = new Map<Uuid, Pick<RunRecord, 'ratedBy' | 'source' | 'parts'>>()
  readonly #perils = new Set<Uuid>()
  readonly #budget = { left: MOST_STEPS_IN_ALL }

  constructor(selection: Selection) {
    this.selection = selection
  }

  /** Whether the peril is explained: it is selected, and among the first ones for which this is called. */
  isExplained({ locator, exposureLocator }: Peril): boolean {
    const { perilLocator, exposureLocator: exposure } = this.selection
    if (perilLocator !== undefined && perilLocator.toLowerCase() !== locator) return false
    if (exposure !== undefined && exposure.toLowerCase() !== exposureLocator) return false
    if (this.#perils.size < MOST_EXPLAINED_PERILS) this.#perils.add(locator)
    return this.#perils.has(locator)
  }

  stepsOf(source: string): Steps {
    return new Steps(source, this.#budget)
  }

  given(run: Uuid, rates: Pick<RunRecord, 'ratedBy' | 'source' | 'parts'>): void {
    this.#given.set(run, rates)
  }

  rated(
    { locator }: PerilRun,
    record: Omit<RunRecord, 'ratedBy' | 'source' | 'parts'>,
    template: string,
  ): void {
    const given = this.#given.get(locator) ?? { ratedBy: 'template', source: template, parts: [] }
    this.runs.set(locator, { ...record, ...given })
  }

  call(call: CallRecord): void {
    const { request, answer, ...rest } = call
    this.calls.push({
      ...rest,
      ...(request !== undefined && { request: shortened(request, LONGEST_BODY) }),
      ...(answer !== undefined && { answer: shortened(answer, LONGEST_BODY) }),
    })
  }
}

/** Where rating shows its steps. */
export type Explaining = {
  readonly record: RatingRecord
  /** Returns the configuration of a version, for transactions that an earlier version rated. */
  configurationOf(version: number): Promise<LoadedConfiguration>
  /** Returns the table contents that rated a recorded transaction. Absent if nothing is recorded. */
  tablesOf?(modification: Uuid): Promise<Awaited<ReturnType<RatingTables['recalled']>>>
}

/** Returns the value as a line shows it: text and exact numbers. Undefined for nothing. */
function shownValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return shortened(printedText(value), LONGEST_VALUE)
  if (value instanceof LiquidNumber) return String(value)
  if (Array.isArray(value)) {
    const items = value.slice(0, LONGEST_VALUE).map(one => shownValue(one) ?? '')
    return shortened(`[${items.join(', ')}]`, LONGEST_VALUE)
  }
  return '{…}'
}

const shownArgument = (argument: unknown): string => {
  if (!Array.isArray(argument)) return shownValue(argument) ?? ''
  const [name, value] = argument as [string, unknown]
  return `${name}: ${shownValue(value) ?? ''}`
}

const LOOPS: ReadonlySet<string> = new Set(['for', 'tablerow'])

/** Returns how many turns a loop took. For other tags, which of their conditions held. */
function resultOfBranch({ tag, taken, turns, of }: ObservedBranch): string {
  if (LOOPS.has(tag)) return String(turns)
  return taken < of - 1 ? String(taken + 1) : 'else'
}

/** The steps of one template. */
export class Steps {
  readonly source: string
  readonly list: WorksheetStep[] = []
  /** Number of steps that are left out. */
  more = 0
  readonly #budget: { left: number }

  constructor(source: string, budget: { left: number }) {
    this.source = source
    this.#budget = budget
  }

  readonly observer: RenderingObserver = {
    read: ({ at, path, value }: ObservedRead) =>
      this.#add(at, () => ({
        kind: 'read',
        name: shortened(path.join('.'), LONGEST_VALUE),
        ...resultOf(value),
      })),
    filter: step => this.#add(step.at, () => filterStep(step)),
    assign: ({ at, name, value }: ObservedAssignment) =>
      this.#add(at, () => ({ kind: 'assign', name, ...resultOf(value) })),
    branch: branch =>
      this.#add(branch.at, () => ({ kind: 'branch', name: branch.tag, result: resultOfBranch(branch) })),
  }

  #add({ path, line, column }: Place, step: () => Omit<WorksheetStep, 'line' | 'column'>): void {
    if (this.list.length >= MOST_STEPS || this.#budget.left <= 0) {
      this.more += 1
      return
    }
    this.#budget.left -= 1
    this.list.push({ line, column, ...(path !== this.source && { path }), ...step() })
  }
}

const resultOf = (value: unknown): { result?: string } => {
  const result = shownValue(value)
  return result === undefined ? {} : { result }
}

function filterStep({
  name,
  input,
  args,
  result,
  detail,
}: ObservedFilter): Omit<WorksheetStep, 'line' | 'column'> {
  if (detail !== undefined) {
    const { table, keys, column, row } = detail as LookupDetail
    const lookup = { table, keys: [...keys], ...(column !== undefined && { column }), ...placeOf(row) }
    return { kind: 'lookup', name, lookup: { ...lookup, value: shownValue(result) }, ...resultOf(result) }
  }
  const given = shownValue(input)
  return {
    kind: Object.hasOwn(effectFilters, name) ? 'set' : 'compute',
    name,
    ...(given !== undefined && { input: given }),
    arguments: args.map(shownArgument),
    ...resultOf(result),
  }
}

/** Returns the place of the row, as a worksheet shows it. */
export const placeOf = (
  row: RowPlace | undefined,
): Pick<WorksheetLookup, 'path' | 'line' | 'resourceName' | 'revision'> => ({
  ...(row?.path !== undefined && { path: row.path }),
  ...(row?.line !== undefined && { line: row.line }),
  ...(row?.resource && { resourceName: row.resource.name, revision: row.resource.revision }),
})
