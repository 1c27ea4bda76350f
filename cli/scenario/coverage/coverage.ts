// Records what scenarios reach of a product: lines and branches of templates, lines of plugins, rows of tables, and rules of
// underwriting.
import { type NodePlace, nodesOf, type RenderingObserver } from '../../../packages/liquid/observation.ts'
import type { LoadedConfiguration } from '../../../src/product/cache.ts'
import {
  type Configuration,
  hasPlugin,
  isLookupTable,
  type LookupTable,
  type PluginFunction,
  type ProductDefinition,
  type TemplateSource,
} from '../../../src/product/configuration.ts'
import type { LookupResult } from '../../../src/product/templates/effects.ts'
import type { CompiledTemplate } from '../../../src/product/templates/liquid.ts'
import type { LifeWorld } from '../../offline/life.ts'
import { COUNT_MARK, type Instrumented, instrument } from './instrument.ts'

export type CoveredLine = { readonly line: number; readonly times: number }

/** A tag with branches, and how often each was taken. */
export type CoveredBranch = {
  readonly line: number
  readonly column: number
  readonly tag: string
  /** The counts, by the number of the branch. */
  readonly taken: readonly number[]
}

export type CoveredFile = {
  readonly path: string
  readonly kind: 'template' | 'plugin'
  readonly lines: readonly CoveredLine[]
  readonly branches: readonly CoveredBranch[]
}

export type CoveredTable = {
  readonly path: string
  readonly rows: readonly { readonly key: string; readonly times: number }[]
  /** Keys that were looked up and have no row. */
  readonly missed: readonly string[]
}

/** A rule: a place that sets a decision or adds a note. */
export type CoveredRule = {
  readonly path: string
  readonly line: number
  readonly text: string
  readonly times: number
}

export type CoverageReport = {
  readonly files: readonly CoveredFile[]
  readonly tables: readonly CoveredTable[]
  readonly rules: readonly CoveredRule[]
}

const RULE = /\b(?:set_underwriting_decision|add_underwriting_note)\b/

const placeName = ({ path, line, column }: NodePlace['at']): string => `${path}:${line}:${column}`

/** One instance for all scenarios of a run. */
export class Coverage {
  readonly #configuration: Configuration
  readonly #nodes = new Map<string, number>()
  readonly #branches = new Map<string, number[]>()
  readonly #scripts = new Map<string, Instrumented>()
  readonly #statements = new Map<string, Map<number, number>>()
  /** By the path of the table. */
  readonly #rows = new Map<string, Map<string, number>>()
  readonly #missed = new Map<string, Set<string>>()
  #loaded: LoadedConfiguration | undefined
  readonly #observer: RenderingObserver = {
    node: ({ at }) => {
      const name = placeName(at)
      this.#nodes.set(name, (this.#nodes.get(name) ?? 0) + 1)
    },
    branch: ({ at, taken }) => {
      const name = placeName(at)
      const times = this.#branches.get(name) ?? []
      times[taken] = (times[taken] ?? 0) + 1
      this.#branches.set(name, times)
    },
  }

  constructor(configuration: Configuration) {
    for (const [path, source] of Object.entries(configuration.scripts)) {
      const script = instrument(path, source)
      if (script) this.#scripts.set(path, script)
    }
    this.#configuration = configuration
  }

  /** The configuration to run. Its scripts count the statements that are reached. */
  get instrumented(): Configuration {
    const scripts = Object.fromEntries(
      Object.entries(this.#configuration.scripts).map(([path, source]) => [
        path,
        this.#scripts.get(path)?.source ?? source,
      ]),
    )
    return { ...this.#configuration, scripts }
  }

  /** Returns the same world with observers. */
  watching<World extends Omit<LifeWorld, 'given'>>(world: World): World {
    this.#loaded = world.configuration
    const observed = new WeakMap<CompiledTemplate, CompiledTemplate>()
    const template = (source: TemplateSource): CompiledTemplate => {
      const compiled = world.configuration.template(source)
      const known = observed.get(compiled) ?? {
        ...compiled,
        render: (data, environment) =>
          compiled.render(data, { ...environment, observer: environment.observer ?? this.#observer }),
      }
      observed.set(compiled, known)
      return known
    }
    return {
      ...world,
      configuration: { ...world.configuration, template },
      watchLookup: (product, table, key, result) => this.#lookedUp(product, table, key, result),
      takeLog: text => this.#take(text),
    }
  }

  #lookedUp(productName: string, name: string, key: string, result: LookupResult): void {
    const { products, tables } = this.#configuration
    const own = products[productName]?.tables ?? {}
    const table = [own, tables].find(one => Object.hasOwn(one, name))?.[name]
    if (!table) return
    if (typeof result === 'object') {
      const times = this.#rows.get(table.path) ?? new Map<string, number>()
      times.set(key, (times.get(key) ?? 0) + 1)
      this.#rows.set(table.path, times)
    } else if (result === 'noSuchKey') {
      const missed = this.#missed.get(table.path) ?? new Set<string>()
      missed.add(key)
      this.#missed.set(table.path, missed)
    }
  }

  /** Whether the line of a plugin's log is a count. */
  #take(text: string): boolean {
    if (!text.startsWith(COUNT_MARK)) return false
    const [path, reached] = JSON.parse(text.slice(COUNT_MARK.length)) as [string, number[]]
    const times = this.#statements.get(path) ?? new Map<number, number>()
    for (const at of reached) times.set(at, (times.get(at) ?? 0) + 1)
    this.#statements.set(path, times)
    return true
  }

  report(): CoverageReport {
    const products = Object.values(this.#configuration.products)
    const templates = products.flatMap(product => templatesOf(product))
    const all = [...products.map(one => one.tables), this.#configuration.tables].flatMap(one =>
      Object.values(one),
    )
    // A table of the only product also belongs to the tenant.
    const tables = [...new Map(all.map(one => [one.path, one])).values()]
    const usesPlugins = products.some(product =>
      Object.keys(product.plugins).some(name => hasPlugin(product, name as PluginFunction)),
    )
    return {
      files: [
        ...templates.map(source => this.#template(source)),
        ...(usesPlugins ? [...this.#scripts].map(([path, script]) => this.#script(path, script)) : []),
      ],
      tables: tables.filter(({ columns }) => isLookupTable(columns)).map(one => this.#table(one)),
      rules: products.flatMap(({ underwriting }) => (underwriting ? this.#rules(underwriting) : [])),
    }
  }

  #nodesOf(source: TemplateSource): NodePlace[] {
    return nodesOf(this.#loaded!.template(source)).filter(one => one.kind !== 'text')
  }

  #template(source: TemplateSource): CoveredFile {
    const nodes = this.#nodesOf(source)
    const lines = new Map<number, number>()
    for (const { at } of nodes)
      lines.set(at.line, Math.max(lines.get(at.line) ?? 0, this.#nodes.get(placeName(at)) ?? 0))
    const branches = nodes.flatMap(({ at, tag = '', branches: ways }): CoveredBranch[] => {
      if (ways === undefined) return []
      const times = this.#branches.get(placeName(at)) ?? []
      const { line, column } = at
      return [{ line, column, tag, taken: Array.from({ length: ways }, (_, way) => times[way] ?? 0) }]
    })
    return { path: source.path, kind: 'template', lines: sortedLines(lines), branches }
  }

  #script(path: string, { lines: lineOf }: Instrumented): CoveredFile {
    const times = this.#statements.get(path)
    const lines = new Map<number, number>()
    for (const [at, line] of lineOf.entries()) {
      const own = times?.get(at) ?? 0
      // If there are several statements in a line, all of them must be reached.
      lines.set(line, Math.min(lines.get(line) ?? Number.POSITIVE_INFINITY, own))
    }
    return { path: `scripts/${path}`, kind: 'plugin', lines: sortedLines(lines), branches: [] }
  }

  #table(table: LookupTable): CoveredTable {
    const key = table.columns.indexOf('key')
    const times = this.#rows.get(table.path)
    const keys = [...new Set(table.rows.map(row => row[key]!))]
    return {
      path: table.path,
      rows: keys.map(one => ({ key: one, times: times?.get(one) ?? 0 })),
      missed: [...(this.#missed.get(table.path) ?? [])],
    }
  }

  #rules(source: TemplateSource): CoveredRule[] {
    const texts = source.source.split('\n')
    return this.#nodesOf(source).flatMap(({ at, kind, tag }) => {
      const text = texts
        .slice(at.line - 1)
        .join('\n')
        .slice(at.column - 1)
      const [own = ''] = /^\{[{%][\s\S]*?[%}]\}/.exec(text) ?? []
      if ((kind !== 'output' && tag !== 'echo') || !RULE.test(own)) return []
      return [
        {
          path: source.path,
          line: at.line,
          text: own.replaceAll(/\s+/g, ' '),
          times: this.#nodes.get(placeName(at)) ?? 0,
        },
      ]
    })
  }
}

const sortedLines = (lines: ReadonlyMap<number, number>): CoveredLine[] =>
  [...lines].map(([line, times]) => ({ line, times })).sort((a, b) => a.line - b.line)

/** Templates in Velocity are not observed. */
function templatesOf(product: ProductDefinition): TemplateSource[] {
  const { exposures, taxes, calculations, underwriting, templates } = product
  const all = [
    ...exposures.flatMap(({ perils }) => perils.flatMap(peril => peril.premium ?? [])),
    ...taxes.flatMap(tax => tax.premium ?? []),
    ...(calculations ? [calculations] : []),
    ...(underwriting ? [underwriting] : []),
    ...Object.values(templates),
  ]
  return [...new Map(all.filter(one => one.path.endsWith('.liquid')).map(one => [one.path, one])).values()]
}
