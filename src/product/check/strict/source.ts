// A source under analysis: reports its alarms with their places, and collects what it uses of the product.
import type { FieldDefinition, LookupTable, TemplateSource } from '../../configuration.ts'
import { type DataNode, memberOf, type TemplateReader } from '../../templates/data-tree.ts'
import { lineIndex } from '../json/read.ts'
import type { ArchiveReport, FindingCode } from '../report.ts'
import { type Domain, domainOf } from './domains.ts'

/** Where a table is looked up, and with which keys; undefined keys can be any. */
export type LookUp = {
  readonly path: string
  readonly line: number
  readonly keys: readonly string[] | undefined
}

/** The parts of a product that its sources use. */
export type Uses = {
  readonly fields: Set<FieldDefinition>
  /** By the name of the table. */
  readonly lookUps: Map<string, LookUp[]>
  /** Tables whose values are used in arithmetic, with the first place for each. */
  readonly sums: Map<string, { readonly path: string; readonly line: number }>
  /** Whether a source could not be analysed completely, so that it may use any field and table. */
  isOpen: boolean
}

export const noUses = (): Uses => ({ fields: new Set(), lookUps: new Map(), sums: new Map(), isOpen: false })

export type Tables = {
  /** The product's own table overrides those of other products. */
  readonly table: (name: string) => LookupTable | undefined
  readonly isResource: (name: string) => boolean
  readonly names: readonly string[]
}

type Severity = 'error' | 'warning'

/** Thrown if the archive has used up its limit, which ends the analysis. */
export class TooMuch extends Error {}

export class AnalysedSource {
  readonly path: string
  /** The Liquid source without its byte-order mark. */
  readonly text: string
  readonly data: DataNode
  readonly readers: readonly TemplateReader[]
  readonly tables: Tables
  /** Names of the fees that fees.json declares. */
  readonly fees: readonly string[]
  readonly uses: Uses
  readonly #report: ArchiveReport
  readonly #severity: Severity
  readonly #positionAt: (offset: number) => { line: number; column: number }
  readonly #told = new Set<string>()
  readonly #domains = new Map<DataNode, Domain>()

  constructor(
    { path, source }: TemplateSource,
    of: {
      readonly data: DataNode
      readonly readers: readonly TemplateReader[]
      readonly tables: Tables
      readonly fees: readonly string[]
      readonly uses: Uses
      readonly report: ArchiveReport
      readonly severity: Severity
    },
  ) {
    this.path = path
    this.text = source.replace(/^\uFEFF/, '')
    this.data = of.data
    this.readers = of.readers
    this.tables = of.tables
    this.fees = of.fees
    this.uses = of.uses
    this.#report = of.report
    this.#severity = of.severity
    this.#positionAt = lineIndex(this.text)
  }

  /** Spends units of work. Throws `TooMuch` once the archive has used up its limit. */
  spend(units: number): void {
    if (!this.#report.afford('analysis', units)) throw new TooMuch()
  }

  /** Reports a problem: an error in a strict product, otherwise a warning. A place is reported only once for each code. */
  alarm(code: FindingCode, offset: number, message: string): void {
    this.#tell(this.#severity, code, offset, message)
  }

  /** Reports a problem that is a warning in strict products too. */
  remark(code: FindingCode, offset: number, message: string): void {
    this.#tell('warning', code, offset, message)
  }

  #tell(severity: 'error' | 'warning', code: FindingCode, offset: number, message: string): void {
    const key = `${code} ${offset}`
    if (this.#told.has(key)) return
    this.#told.add(key)
    this.#report.at({ path: this.path, ...this.#positionAt(offset) })[severity](code, message)
  }

  suggestion(name: string, known: readonly string[]): string {
    return this.#report.suggestion(name, known)
  }

  lineOf(offset: number): number {
    return this.#positionAt(offset).line
  }

  /** The member that at least one of the readers sees. */
  memberOf(node: DataNode, name: string): DataNode | undefined {
    for (const reader of this.readers) {
      const member = memberOf(node, name, reader)
      if (member) return member
    }
    return undefined
  }

  domainOf(node: DataNode): Domain {
    const known = this.#domains.get(node) ?? domainOf(node, this.tables.table)
    this.#domains.set(node, known)
    return known
  }

  use(node: DataNode): void {
    for (const field of node.fields ?? []) this.uses.fields.add(field)
  }

  /** Marks everything in the record or list as used. */
  markAllUsed(node: DataNode): void {
    this.use(node)
    for (const member of Object.values(node.members ?? {})) this.use(member)
    if (node.items) this.markAllUsed(node.items)
  }

  recordLookUp(table: string, offset: number, keys: readonly string[] | undefined): void {
    const all = this.uses.lookUps.get(table) ?? []
    this.uses.lookUps.set(table, all)
    all.push({ path: this.path, line: this.lineOf(offset), keys })
  }

  sums(table: string, offset: number): void {
    if (!this.uses.sums.has(table)) this.uses.sums.set(table, { path: this.path, line: this.lineOf(offset) })
  }
}
