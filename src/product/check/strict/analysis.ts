// Finds mistakes that could price a policy wrongly without anyone noticing (docs/strict.md). They are warnings, or errors in a
// strict product. Uses what the other checks have compiled, and reads nothing twice.
import { outlineOf } from '../../../../packages/liquid/outline.ts'
import { ABSENT_GLOBALS } from '../../absent-globals.ts'
import {
  type Configuration,
  type FieldDefinition,
  hasPlugin,
  isLookupTable,
  type LookupTable,
  PLUGIN_FUNCTIONS,
  type PluginFunction,
  type ProductDefinition,
  type TemplateSource,
} from '../../configuration.ts'
import type { ResourceDeclarations } from '../../resources.ts'
import { type DataNode, DOCUMENT_READERS, type TemplateReader } from '../../templates/data-tree.ts'
import { lineIndex } from '../json/read.ts'
import { readersOfDocuments } from '../product/documents.ts'
import { neededScripts } from '../product/plugins.ts'
import { checkSets, isLiquid, type LiquidCheck } from '../product/templates.ts'
import type { ArchiveReport, PlaceReport } from '../report.ts'
import { wrongDelimiter } from '../tables.ts'
import { absentGlobalsIn } from './absent-globals.ts'
import { apiCallsOf, lookUpsOf } from './plugin-look-ups.ts'
import { checkMembers, type ScriptNode } from './plugin-scripts.ts'
import { AnalysedSource, noUses, type Tables, type Uses } from './source.ts'
import {
  checkKeyBlanks,
  checkMissingRows,
  checkNumbers,
  checkUnmatchedRows,
  lineOf,
  type TableAlarm,
} from './table-cells.ts'
import { checkRanges } from './table-ranges.ts'
import { analyseTemplate } from './template.ts'
import { unusedFields } from './unused-fields.ts'

/** What templates and plugins receive, derived from the contracts, which belong to a higher layer. */
export type DataOfSources = {
  templateTree(product: ProductDefinition, policyholderFields: Configuration['policyholderFields']): DataNode
  /** The tree for the premium of one peril, which has only the fields of its own exposure. */
  premiumTree(
    tree: DataNode,
    exposure: ProductDefinition['exposures'][number],
    peril: ProductDefinition['exposures'][number]['perils'][number],
  ): DataNode
  readonly pluginInputs: Readonly<Record<PluginFunction, () => DataNode>>
  /** The functions of `socotraApi`. */
  readonly scriptFunctions: readonly string[]
  /** Why a table could not be uploaded, by line. */
  problemsOfTable(table: TableFile): readonly { readonly line: number; readonly message: string }[]
}

/** A table that the tenant starts with (bootstrap/resources). */
export type TableFile = {
  readonly path: string
  readonly staticName: string
  readonly type: 'table' | 'rangeTable' | 'constraintTable'
  readonly declarations: ResourceDeclarations | undefined
  readonly sizeBytes: number
  readonly bytes: () => Uint8Array
}

/**
 * The limit for all checked tables together, because a check is one turn of an isolate. The other tables are read only when their
 * resources are created.
 */
const MOST_TABLE_BYTES = 4 * 1_048_576

/** Parses a script. Returns undefined if it does not parse. */
export type ScriptParser = (path: string, source: string) => ScriptNode | undefined

export type AnalysedArchive = {
  readonly products: readonly ProductDefinition[]
  readonly policyholderFields: Configuration['policyholderFields']
  readonly scripts: Readonly<Record<string, string>>
  readonly tables: {
    readonly byProduct: ReadonlyMap<string, ReadonlyMap<string, LookupTable>>
    readonly ofTenant: ReadonlyMap<string, LookupTable>
  }
  readonly isResourceTable: (name: string) => boolean
  readonly tableFiles: readonly TableFile[]
  /** Compiles a template again. Together, all of an archive would not fit in memory. */
  readonly compileLiquid: LiquidCheck
  readonly parseScript: ScriptParser
  /** Where a field is defined. */
  readonly definitionReport: (field: FieldDefinition) => PlaceReport | undefined
  readonly report: ArchiveReport
}

/** The analysis, passed to the compiler like the compilers of templates and scripts. */
export type Analysis = (archive: AnalysedArchive) => void

export const analysisOver =
  (data: DataOfSources): Analysis =>
  archive => {
    // Skips products with a broken file: anything that it left out would be reported as missing everywhere else.
    for (const product of archive.products)
      if (!archive.report.hasBrokenJson(`products/${product.name}/`))
        new ProductAnalysis(product, archive, data).run()
    checkTableFiles(archive, data)
  }

/**
 * Checks tables that become resources after the deployment. If one could not be read then, the tenant would lack it, and only its
 * list of resources would show that.
 */
function checkTableFiles(
  { tableFiles, report }: AnalysedArchive,
  { problemsOfTable }: Pick<DataOfSources, 'problemsOfTable'>,
): void {
  let left = MOST_TABLE_BYTES
  for (const table of tableFiles) {
    if (table.sizeBytes > left) continue
    left -= table.sizeBytes
    for (const { line, message } of problemsOfTable(table))
      report.at({ path: table.path, line }).warning('badTable', message)
  }
}

class ProductAnalysis {
  readonly #product: ProductDefinition
  readonly #archive: AnalysedArchive
  readonly #data: DataOfSources
  readonly #uses: Uses = noUses()
  readonly #tables: Tables
  readonly #severity: 'error' | 'warning'
  /** Words in sources that are not analysed: plugins and Velocity templates. */
  readonly #mentioned = new Set<string>()

  constructor(product: ProductDefinition, archive: AnalysedArchive, data: DataOfSources) {
    this.#product = product
    this.#archive = archive
    this.#data = data
    this.#severity = product.strict ? 'error' : 'warning'
    const { byProduct, ofTenant } = archive.tables
    const own = byProduct.get(product.name)
    this.#tables = {
      table: name => own?.get(name) ?? ofTenant.get(name),
      isResource: archive.isResourceTable,
      names: [...ofTenant.keys()],
    }
  }

  run(): void {
    const { product, tree } = this.#roots()
    for (const exposure of product.exposures)
      for (const peril of exposure.perils)
        if (peril.premium)
          this.#template(peril.premium, this.#data.premiumTree(tree, exposure, peril), ['premium'])
    for (const { premium } of product.taxes) if (premium) this.#template(premium, tree, ['tax'])
    if (product.calculations) this.#template(product.calculations, tree, ['fees'])
    if (product.underwriting) {
      // Checked here, unlike premiums, which are checked while compiling: a deployed archive may be compiled again without this
      // analysis, and its strict product must not be rejected then.
      if (!hasPlugin(product, 'getUnderwritingResult'))
        checkSets(product.underwriting, 'decision', this.#archive.report)
      this.#template(product.underwriting, tree, ['underwriting'])
    }
    const readers = readersOfDocuments(product)
    for (const [name, source] of Object.entries(product.templates))
      if (isLiquid(name)) this.#template(source, tree, readers.get(name) ?? DOCUMENT_READERS)
      else this.#mention(source.source)
    this.#plugins()
    this.#checkTables()
    this.#checkFields()
  }

  #roots() {
    const product = this.#product
    return { product, tree: this.#data.templateTree(product, this.#archive.policyholderFields) }
  }

  #template(source: TemplateSource, data: DataNode, readers: readonly TemplateReader[]): void {
    const { template: compiled } = this.#archive.compileLiquid(source)
    if (!compiled) {
      this.#uses.isOpen = true
      return
    }
    const { report } = this.#archive
    const analysed = new AnalysedSource(source, {
      data,
      readers,
      tables: this.#tables,
      fees: this.#product.fees.map(one => one.name),
      uses: this.#uses,
      report,
      severity: this.#severity,
    })
    if (analyseTemplate(outlineOf(compiled), analysed)) return
    this.#uses.isOpen = true
    const message =
      'The archive is too large to analyse all of its templates: this one is only checked in part. Split it.'
    report.at({ path: source.path }).warning('checkIncomplete', message)
  }

  #mention(source: string): void {
    for (const [word] of source.matchAll(/[\w$]+/g)) this.#mentioned.add(word)
  }

  /**
   * Whether a source that is not analysed mentions the name. A name that is not a single word counts as mentioned if there is any
   * such source.
   */
  #mentions(name: string): boolean {
    return /^[\w$]+$/.test(name) ? this.#mentioned.has(name) : this.#mentioned.size > 0
  }

  // Plugins.

  #plugins(): void {
    const product = this.#product
    const { scripts, parseScript, report } = this.#archive
    const enabled = PLUGIN_FUNCTIONS.filter(name => hasPlugin(product, name))
    const needed = neededScripts(
      scripts,
      enabled.map(name => product.plugins[name]!.path),
    )
    for (const path of needed) {
      this.#mention(scripts[path]!)
      if (!report.afford('scriptCharacters', scripts[path]!.length)) {
        const message = 'The archive is too large to analyse all of its scripts: this one is only parsed.'
        report.at({ path: `scripts/${path}` }).warning('checkIncomplete', message)
        continue
      }
      // Not kept: the trees of all scripts would not fit in memory.
      const program = parseScript(path, scripts[path]!)
      if (!program) continue
      this.#scriptLookUps(path, program)
      this.#scriptCalls(path, program)
      this.#absentGlobals(path, program)
      for (const name of enabled) if (product.plugins[name]!.path === path) this.#members(name, path, program)
    }
  }

  #at(path: string) {
    const positionAt = lineIndex(this.#archive.scripts[path]!)
    return (offset: number) => this.#archive.report.at({ path: `scripts/${path}`, ...positionAt(offset) })
  }

  #scriptLookUps(path: string, program: ScriptNode): void {
    const { report } = this.#archive
    const at = this.#at(path)
    for (const { table: name, key, offset } of lookUpsOf(program)) {
      if (this.#tables.isResource(name)) continue
      const table = this.#tables.table(name)
      if (!table) {
        const message = `The script looks up in the table '${name}', which no product has, so it finds nothing. Add tables/${name}.csv, declare it under 'tables' of config.json, or correct the name.${report.suggestion(name, this.#tables.names)}`
        at(offset)[this.#severity]('missingTable', message)
      } else if (!isLookupTable(table.columns)) {
        const message = `The script looks up in '${name}', whose header is '${table.columns.join(',')}'. A table for look-ups must have the header 'key,value'.`
        at(offset)[this.#severity]('notALookupTable', message)
      } else if (key !== undefined) {
        const column = table.columns.indexOf('key')
        const message = `The table '${name}' has no row '${key}', so the script finds nothing. Add a row to ${table.path}.`
        if (!table.rows.some(row => row[column] === key)) at(offset)[this.#severity]('missingRow', message)
      }
    }
  }

  #scriptCalls(path: string, program: ScriptNode): void {
    const { scriptFunctions } = this.#data
    const at = this.#at(path)
    for (const { name, offset } of apiCallsOf(program)) {
      const message = `'socotraApi' has no function '${name}', so the call fails. Correct the name.${this.#archive.report.suggestion(name, scriptFunctions)}`
      if (!scriptFunctions.includes(name)) at(offset)[this.#severity]('unknownPath', message)
    }
  }

  #absentGlobals(path: string, program: ScriptNode): void {
    const at = this.#at(path)
    for (const [name, offset] of absentGlobalsIn(program)) {
      const message = `The script uses '${name}', which plugins do not have: ${ABSENT_GLOBALS[name]}.`
      at(offset).warning('absentGlobal', message)
    }
  }

  #members(name: PluginFunction, path: string, program: ScriptNode): void {
    const { report, policyholderFields } = this.#archive
    const at = this.#at(path)
    const fields = namesOfFields(this.#product, policyholderFields)
    checkMembers(program, name, this.#data.pluginInputs[name](), field => fields.has(field), {
      unknownMember: (offset, shown, member, known) => {
        const message = `The input of ${name} has no '${shown}' here, so it is undefined. Correct the name.${report.suggestion(member, known)}`
        at(offset)[this.#severity]('unknownPath', message)
      },
      unknownField: (offset, field) => {
        const message = `The product has no field '${field}', so it is undefined. Correct the name.${report.suggestion(field, [...fields])}`
        at(offset)[this.#severity]('unknownPath', message)
      },
    })
  }

  // Tables and fields.

  #checkTables(): void {
    const { byProduct } = this.#archive.tables
    const own = byProduct.get(this.#product.name) ?? new Map<string, LookupTable>()
    // Tables of other products that this one looks up in.
    const borrowed = [...this.#uses.lookUps.keys()].filter(name => !own.has(name))
    const tables = new Map([...own, ...borrowed.flatMap(name => entryOf(name, this.#tables.table(name)))])
    for (const [name, table] of tables)
      if (!this.#tables.isResource(name)) this.#checkTable(name, table, own.has(name))
  }

  #checkTable(name: string, table: LookupTable, isOwn: boolean): void {
    const { report } = this.#archive
    const alarm: TableAlarm = (code, row, message) =>
      report.at({ path: table.path, line: lineOf(table, row) })[this.#severity](code, message)
    // A table with another separator has a single column. The reader of tables reports that.
    if (wrongDelimiter(table.columns) !== undefined) return
    const lookUps = this.#uses.lookUps.get(name) ?? []
    checkNumbers(table, this.#uses.sums.get(name), alarm)
    if (isOwn) checkRanges(table, alarm)
    if (!isLookupTable(table.columns) || table.rows.length === 0) return
    checkKeyBlanks(table, lookUps, alarm)
    checkMissingRows(name, table, lookUps, alarm)
    if (isOwn && !this.#uses.isOpen && !this.#mentions(name) && !this.#isShared(name, table))
      checkUnmatchedRows(table, lookUps, (key, known) => report.suggestion(key, known), alarm)
  }

  /** Whether other products, which have no table of that name, use this one. */
  #isShared(name: string, table: LookupTable): boolean {
    const { byProduct, ofTenant } = this.#archive.tables
    return (
      ofTenant.get(name) === table &&
      this.#archive.products.some(other => other !== this.#product && !byProduct.get(other.name)?.has(name))
    )
  }

  #checkFields(): void {
    for (const { field, of } of unusedFields(this.#product, this.#uses, name => this.#mentions(name))) {
      const message = `No premium, tax, fee, underwriting or document uses the field '${field.name}' of the ${of}. Use it, remove it, or set "informational": true.`
      this.#archive.definitionReport(field)?.[this.#severity]('unusedField', message)
    }
  }
}

const entryOf = (name: string, table: LookupTable | undefined): [string, LookupTable][] =>
  table ? [[name, table]] : []

function namesOfFields(
  product: ProductDefinition,
  policyholderFields: Configuration['policyholderFields'],
): ReadonlySet<string> {
  const parts = [product, ...product.exposures, ...product.exposures.flatMap(one => one.perils)]
  const fields = [...parts.flatMap(one => one.fields), ...policyholderFields]
  return new Set(fields.flatMap(one => [one.name, ...(one.fields ?? []).map(inner => inner.name)]))
}
