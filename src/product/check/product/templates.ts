import type { outlineOf } from '../../../../packages/liquid/outline.ts'
import { compileVelocity } from '../../../../packages/velocity/velocity.ts'
import { nearest } from '../../../kernel/text.ts'
import type { ArchiveFile } from '../../archive/read.ts'
import { type Finding, isLookupTable, type LookupTable, type TemplateSource } from '../../configuration.ts'
import { RESOURCE_NAME, staticNameOfFile, type TemplateFormat } from '../../resources.ts'
import { readSource } from '../archive.ts'
import { lineIndex } from '../json/read.ts'
import type { ArchiveReport, PlaceReport } from '../report.ts'
import type { StaticDocuments } from './static-documents.ts'

/** The Liquid compiler. It is passed in, because it belongs to the rating capability. */
export type LiquidCheck = (source: TemplateSource) => {
  findings: readonly Finding[]
  /** For the analysis of what the template does (check/strict). */
  template?: Parameters<typeof outlineOf>[0]
}

export const isLiquid = (path: string): boolean => path.endsWith('.liquid')
export const isVelocity = (path: string): boolean => /\.(vm|velocity)$/.test(path)

/** Reads and compiles a template. Returns undefined only if the file has no readable text. */
export function readTemplate(
  file: ArchiveFile,
  compileLiquid: LiquidCheck,
  report: ArchiveReport,
): TemplateSource | undefined {
  const source = readSource(file, report)
  if (source === undefined) return undefined
  const template = { path: file.path, source }
  report.add((isVelocity(file.path) ? compileVelocity(template) : compileLiquid(template)).findings)
  return template
}

/** The names that the Liquid sources of a product may use. */
type ReferenceTargets = {
  table: (name: string) => LookupTable | undefined
  tableNames: readonly string[]
  /** Whether a table is declared as a resource, which need not be in the archive. */
  isResourceTable: (name: string) => boolean
  /** Whether config.json declares the name as a range table. */
  isRangeTable: (name: string) => boolean
  hasFee: (name: string) => boolean
  feeNames: readonly string[]
  staticDocuments: StaticDocuments
  /** Whether the source may include snippets. Only templates of documents may. */
  takesSnippets: boolean
}

const COMMENT_TAG = /\{%-?\s*(end)?comment\s*-?%\}/g
/** Only matches a literal that begins an expression: `x | append: "y" | lookup: z` does not look up in a table `y`. */
const LOOKUP = /(?:\{\{-?|=)\s*(["'])([^"'\n]*)\1\s*\|\s*lookup(?:_effective)?\s*:/g
const STATIC_DOCUMENT = /(?:\{\{-?|=)\s*(["'])([^"'\n]*)\1\s*\|\s*(render_static_document|image_url)\b/g
/** Addresses, which `image_url` leaves unchanged. */
const ADDRESS = /^(?:data|https?):/i
const SNIPPET = /\{%-?\s*(?:include|render)\s+(["'])([^"'\n]*)\1/g
const FEE = /\|\s*add_fee\s*:\s*(["'])([^"'\n]*)\1/g

/** A script without its comments. */
type Code = {
  readonly text: string
  readonly targets: ReferenceTargets
  readonly report: ArchiveReport
  /** Returns the report for an offset in the text. */
  at(index: number): PlaceReport
}

/** Reports literals that name a missing table, fee, static document or snippet. */
export function checkReferences(
  { path, source }: TemplateSource,
  targets: ReferenceTargets,
  report: ArchiveReport,
): void {
  const text = withoutComments(source)
  const positionAt = lineIndex(text)
  const code: Code = { text, targets, report, at: index => report.at({ path, ...positionAt(index) }) }
  checkLookUps(code)
  checkFees(code)
  if (!targets.takesSnippets) refuseSnippets(code)
  checkStaticDocuments(code)
}

function checkLookUps({ text, targets, report, at }: Code): void {
  for (const { 2: name = '', index } of text.matchAll(LOOKUP)) {
    if (targets.isResourceTable(name)) continue
    const table = targets.table(name)
    if (table && isLookupTable(table.columns)) continue
    if (table) {
      const message = `The script looks up in '${name}', whose header is '${table.columns.join(',')}'. A table for look-ups must have the header 'key,value'. If rows are ranges, choose the key with if and elsif (docs/liquid.md).`
      at(index).error('notALookupTable', message)
      continue
    }
    const message = targets.isRangeTable(name)
      ? `The script looks up in '${name}', which is a range table: only plugins can read those, with rangeLookup. In a template, choose the row's key with if and elsif, and look it up in a table with the header 'key,value'.`
      : `The script looks up in the table '${name}', which no product has. Add tables/${name}.csv, declare it under 'tables' of config.json, or correct the name.${report.suggestion(name, targets.tableNames)}`
    at(index).error('missingTable', message)
  }
}

function checkFees({ text, targets, report, at }: Code): void {
  for (const { 2: name = '', index } of text.matchAll(FEE)) {
    if (targets.hasFee(name)) continue
    const message = `The script adds the fee '${name}', which is not declared in fees.json. Declare it or correct the name.${report.suggestion(name, targets.feeNames)}`
    at(index).error('unknownFee', message)
  }
}

function refuseSnippets({ text, at }: Code): void {
  for (const { 2: name, index } of text.matchAll(SNIPPET)) {
    const message = `The script includes the snippet '${name}', but only templates of documents can have snippets. Replace it with its text.`
    at(index).error('missingSnippet', message)
  }
}

function checkStaticDocuments({ text, targets, report, at }: Code): void {
  for (const { 2: name = '', 3: filter, index } of text.matchAll(STATIC_DOCUMENT)) {
    const isImage = filter === 'image_url'
    const { names, has, hasImage, problem } = targets.staticDocuments
    const wrongType = isImage ? undefined : problem(name)
    if (wrongType !== undefined)
      at(index).warning('badDocument', `The template uses the static document '${name}', but ${wrongType}`)
    if (isImage ? hasImage(name) || ADDRESS.test(name) : has(name)) continue
    const uses = `The template uses the ${isImage ? 'image' : 'static document'} '${name}', which is not in static_documents.`
    const suggestion = report.suggestion(name, names)
    // Resources change independently of the configuration, so it is unknown which ones will exist.
    const mayBeResource = RESOURCE_NAME.test(staticNameOfFile(name))
    const remedy = mayBeResource
      ? 'Add the file, correct the name, or make sure that a resource of that static name is in force.'
      : 'Add the file or correct the name.'
    const severity = mayBeResource || isImage ? 'warning' : 'error'
    at(index)[severity]('missingStaticDocument', `${uses} ${remedy}${suggestion}`)
  }
}

/** The filters by which a script of each kind sets its result. It should call at least one. */
export const SETTERS = {
  premium: ['set_year_premium', 'set_month_premium', 'set_peril_premium', 'add_premium'],
  tax: ['set_peril_tax', 'add_tax'],
  decision: ['set_underwriting_decision'],
} as const

const WITHOUT: Readonly<Record<keyof typeof SETTERS, string>> = {
  premium: 'so there is none',
  tax: 'so there is none',
  decision: 'so every policy is referred',
}

const FILTER = /\|\s*(\w+)/g

/** Warns about a script that calls none of its filters. */
export function checkSets(
  { path, source }: TemplateSource,
  what: keyof typeof SETTERS,
  report: ArchiveReport,
): void {
  const called = new RegExp(`\\|\\s*(?:${SETTERS[what].join('|')})\\b`)
  const code = withoutComments(source)
  const message = `The script sets no ${what}, ${WITHOUT[what]}. Set it with ${SETTERS[what].join(' or ')}.`
  // A nearly right name of such a filter has its own finding, which suggests the right one.
  const isMisspelt = [...code.matchAll(FILTER)].some(([, name = '']) => nearest(name, SETTERS[what]))
  if (!called.test(code) && !isMisspelt) report.at({ path }).warning('scriptSetsNothing', message)
}

/** Replaces comments with blanks, so that offsets stay the same. */
function withoutComments(source: string): string {
  let code = ''
  let kept = 0
  let start: number | undefined
  for (const tag of source.matchAll(COMMENT_TAG))
    if (tag[1] === undefined) start ??= tag.index
    else if (start !== undefined) {
      code += source.slice(kept, start) + source.slice(start, tag.index).replace(/[^\n]/g, ' ')
      kept = tag.index
      start = undefined
    }
  return code + source.slice(kept)
}

/** Reports invalid names, and snippets that the template includes and the list lacks. `report` is that of the list. */
export function checkSnippetNames(
  names: readonly string[],
  { path, source }: TemplateSource,
  report: PlaceReport,
  archive: ArchiveReport,
): void {
  for (const name of names) {
    const message = `'${name}' cannot be the static name of a snippet; it can contain only letters, digits, _ and $, and must not begin with a digit.`
    if (!RESOURCE_NAME.test(name)) report.error('badSnippetName', message)
  }
  const included = isVelocity(path)
    ? includedSnippets(source, 'velocity')
    : includedSnippets(withoutComments(source), 'liquid')
  const positionAt = lineIndex(source)
  for (const { name, offset } of included) {
    const message = `The template includes the snippet '${name}', which is not among the templateSnippets of its document. Add it there, or correct the name.`
    if (!names.includes(name)) archive.at({ path, ...positionAt(offset) }).error('missingSnippet', message)
  }
}

/** Matches `{% render 'name' %}`, `{% include "name" %}`, `#parse("name")` and `#include('a', 'b')`. */
const TAG = {
  liquid: /\{%-?\s*(?:render|include)\s+(?:"([^"]{1,128})"|'([^']{1,128})')/g,
  velocity: /#\{?(?:parse|include)\}?\s*\(([^()\n]{1,2000})\)/g,
} as const
const QUOTED = /"([^"$#]{1,128})"|'([^']{1,128})'/g

/** The snippets that a template includes, with the offsets of their tags. Ignores comments of Velocity. */
export function includedSnippets(source: string, format: TemplateFormat): { name: string; offset: number }[] {
  const tags = [...(format === 'velocity' ? withoutVelocityComments(source) : source).matchAll(TAG[format])]
  if (format === 'liquid') return tags.map(({ 1: a, 2: b, index }) => ({ name: (a ?? b)!, offset: index }))
  return tags.flatMap(({ 1: names, index }) =>
    [...names!.matchAll(QUOTED)].map(([, a, b]) => ({ name: (a ?? b)!, offset: index })),
  )
}

/** Delimiters of comments and raw text in Velocity. */
const SKIPPED_TEXT = [
  ['##', '\n'],
  ['#*', '*#'],
  ['#[[', ']]#'],
] as const

/** Replaces comments and raw text with blanks, so that offsets stay the same. */
function withoutVelocityComments(source: string): string {
  const parts: string[] = []
  let kept = 0
  for (let at = source.indexOf('#'); at !== -1; at = source.indexOf('#', at)) {
    const [opening, closing] = SKIPPED_TEXT.find(([begin]) => source.startsWith(begin, at)) ?? []
    if (opening === undefined) {
      at += 1
      continue
    }
    const close = source.indexOf(closing!, at + opening.length)
    const end = close === -1 ? source.length : close + closing!.length
    parts.push(source.slice(kept, at), ' '.repeat(end - at))
    kept = end
    at = end
  }
  return parts.join('') + source.slice(kept)
}
