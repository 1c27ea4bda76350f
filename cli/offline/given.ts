// Values that a scenario gives in place of stored data and external services, which do not exist without a service. Requests for
// values that are not given are recorded, so that nobody mistakes the price for that of the service.

import type { ExternalRater } from '../../src/extension/integrations/external-rater.ts'
import type { Fetching } from '../../src/extension/plugins/attempt-calls.ts'
import type { Known, Missing } from '../../src/extension/plugins/runners/runner.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import type { LoadedConfiguration } from '../../src/product/cache.ts'
import type { SelectionBasis } from '../../src/product/resources.ts'
import { type LookupResult, readLookUpKey } from '../../src/product/templates/effects.ts'
import { RatingTables, type TransactionTables } from '../../src/reference/data-tables/rating-tables.ts'
import { givenRange } from './given-ranges.ts'

/** A row of a table that is a resource: values by column. */
export type GivenRow = Readonly<Record<string, string>>

/**
 * Rates of an external rater for the segments of a peril, by the name of the peril, or of exposure and peril as in
 * `vehicle.glass`.
 */
export type GivenRates = Readonly<Record<string, unknown>>

export type Given = {
  /** By key, for any record. */
  readonly auxData: Readonly<Record<string, string>>
  /** Items, by the static name of the secret. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** By the name of the rater. */
  readonly raters: Readonly<Record<string, GivenRates>>
  /** Tables that are resources, by static name. They take precedence over those of the configuration. */
  readonly tables: Readonly<Record<string, readonly GivenRow[]>>
}

export const NOTHING_GIVEN: Given = { auxData: {}, secrets: {}, raters: {}, tables: {} }

/** `shown` returns a record of the policy as plugins read it, or undefined if there is none. */
export function givenFetching(
  { auxData, secrets }: Given,
  written: ReadonlyMap<string, string>,
  shown: (entity: string, locator: string) => unknown,
  missed: (what: string) => void,
): Fetching {
  const auxOf = (locator: string, key: string): string => {
    const value = written.get(auxName(locator, key)) ?? auxData[key]
    if (value === undefined) missed(`auxiliary data '${key}'`)
    return value ?? ''
  }
  const secretOf = (staticName: string, item: string): unknown => {
    const value = secrets[staticName]?.[item]
    if (value === undefined) missed(`item '${item}' of the secret '${staticName}'`)
    return value ?? null
  }
  const entityOf = (entity: string, locator: string): unknown => {
    const record = shown(entity, locator)
    if (record === undefined) missed(`a stored ${entity}`)
    return record ?? null
  }
  return async (missing: readonly Missing[]): Promise<Known> => ({
    aux: missing.flatMap(one =>
      one.kind === 'aux' ? [[one.locator, one.key, auxOf(one.locator, one.key)] as const] : [],
    ),
    auxLocators: [],
    entities: missing.flatMap(one =>
      one.kind === 'entity' ? [[one.entity, one.locator, entityOf(one.entity, one.locator)] as const] : [],
    ),
    rows: [],
    secrets: missing.flatMap(one =>
      one.kind === 'secret' ? [[one.staticName, one.item, secretOf(one.staticName, one.item)] as const] : [],
    ),
  })
}

export const auxName = (locator: string, key: string): string => JSON.stringify([locator, key])

/** Receives each lookup of a product, with its result. */
export type WatchLookup = (product: string, table: string, key: string, result: LookupResult) => void

/** The given tables, and otherwise those of the configuration. */
export class GivenTables extends RatingTables {
  readonly #given: Given['tables']
  readonly #watch: WatchLookup | undefined

  /** With `watch`, plugins too look up every row outside their sandbox, so that the lookup is seen. */
  constructor(context: RequestContext, { tables }: Given, watch?: WatchLookup) {
    super(context)
    this.#given = tables
    this.#watch = watch
  }

  override of(configuration: LoadedConfiguration, product: string, basis: SelectionBasis): TransactionTables {
    const inConfiguration = super.of(configuration, product, basis)
    const watch = this.#watch
    if (!watch && Object.keys(this.#given).length === 0) return inConfiguration
    const lookup: TransactionTables['lookup'] = (name, key, at) => {
      const rows = Object.hasOwn(this.#given, name) ? this.#given[name] : undefined
      const result = rows ? rowValue(name, rows, key) : inConfiguration.lookup(name, key, at)
      if (!rows) watch?.(product, name, key, result)
      return result
    }
    const { configuration: compiled } = configuration
    const range: TransactionTables['range'] = (name, wanted) => {
      const rows = Object.hasOwn(this.#given, name) ? this.#given[name] : undefined
      const declared = compiled.resources?.rangeTables ?? {}
      return rows
        ? givenRange(name, rows, Object.hasOwn(declared, name) ? declared[name] : undefined, wanted)
        : inConfiguration.range(name, wanted)
    }
    const own = watch ? [compiled.products[product]?.tables ?? {}, compiled.tables] : []
    const names = [...new Set([this.#given, ...own].flatMap(tables => Object.keys(tables)))]
    const tables: TransactionTables = {
      ...inConfiguration,
      lookup,
      range,
      names,
      everNames: names,
      in: () => tables,
    }
    return tables
  }
}

/** The first columns are the keys. The value is in the named column, in the only remaining one, or in `value`. */
function rowValue(name: string, rows: readonly GivenRow[], text: string): LookupResult {
  const { keys, column } = readLookUpKey(text)
  const columns = Object.keys(rows[0] ?? {})
  const others = columns.slice(keys.length)
  const valueColumn = column ?? (others.length === 1 ? others[0] : others.find(one => one === 'value'))
  if (valueColumn === undefined || !columns.includes(valueColumn))
    throw new Refusal(
      'templateFailed',
      `A lookup in the table '${name}' found no column for its value. The table has the columns ${columns.map(one => `'${one}'`).join(', ')}.`,
    )
  const row = rows.find(one => keys.every((key, at) => one[columns[at]!] === key.trim()))
  return row ? { value: row[valueColumn]! } : 'noSuchKey'
}

/** Responds like the rater, with the given rates for each requested peril. */
export const givenRater = (name: string, rates: GivenRates): ExternalRater => {
  const failed = (reason: string): Refusal =>
    new Refusal('externalRaterFailed', `The given rater '${name}' failed: ${reason}.`)
  return {
    failed,
    call: async (input, read) => {
      if ('exceptionMessage' in rates) return read(rates, () => {})
      const wanted = new Set(input.policyExposurePerils.map(one => one.perilCharacteristicsLocator))
      const priced: Record<string, unknown> = {}
      for (const exposure of input.policy.exposures)
        for (const peril of exposure.perils)
          for (const { locator } of peril.characteristics)
            if (wanted.has(locator))
              priced[locator] = rates[`${exposure.name}.${peril.name}`] ?? rates[peril.name]
      const unrated = Object.entries(priced).find(([, rate]) => rate === undefined)
      if (unrated) {
        const peril = input.policy.exposures
          .flatMap(exposure => exposure.perils.map(peril => ({ exposure, peril })))
          .find(one => one.peril.characteristics.some(({ locator }) => locator === unrated[0]))!
        throw failed(
          `no rate is given for '${peril.exposure.name}.${peril.peril.name}'; add it under raters.${name}`,
        )
      }
      return read({ pricedPerilCharacteristics: priced }, () => {})
    },
  }
}
