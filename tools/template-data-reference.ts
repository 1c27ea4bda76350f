// Writes the reference in docs/template-data.md from the tree of data that templates and plugins read. npm run docs:template-data
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLUGIN_FUNCTIONS } from '../src/product/configuration.ts'
import {
  type DataNode,
  DOCUMENT_READERS,
  TEMPLATE_READERS,
  type TemplateReader,
} from '../src/product/templates/data-tree.ts'
import { PLUGIN_INPUTS } from '../src/servicing/template-data/plugin-inputs.ts'
import { templateTree } from '../src/servicing/template-data/template-tree.ts'
import { betweenMarks } from './marks.ts'

export const DATA_BEGIN = '<!-- data:begin -->'
export const DATA_END = '<!-- data:end -->'

const code = (text: string): string => `\`${text}\``

const READERS: Readonly<Record<TemplateReader, string>> = {
  premium: 'premium scripts (`<peril>.premium.liquid`)',
  tax: 'tax scripts (`taxes/<tax>.premium.liquid`)',
  fees: '`policy.calculations.liquid`',
  underwriting: '`underwriting.guidelines.liquid`',
  policyDocument: 'documents of policy.json',
  endorsementDocument: 'documents of endorsements',
  renewalDocument: 'documents of renewals',
  cancellationDocument: 'documents of cancellations',
  reinstatementDocument: 'documents of reinstatements',
  invoiceDocument: 'documents of invoices',
  gracePeriodDocument: '`gracePeriod.template.liquid`',
  lapseDocument: '`lapse.template.liquid`',
}

/** Describes who sees a part. Empty if everybody does. */
function readersWords(readers: readonly TemplateReader[] | undefined): string {
  if (!readers || readers.length === TEMPLATE_READERS.length) return ''
  if (DOCUMENT_READERS.length === readers.length && DOCUMENT_READERS.every(one => readers.includes(one)))
    return 'all documents'
  return readers.map(reader => READERS[reader]).join(', ')
}

const WORDS: Readonly<Record<DataNode['type'], string>> = {
  text: 'text',
  number: 'number',
  amount: 'amount',
  timestamp: 'time',
  flag: 'true or false',
  record: 'record',
  list: 'list',
  map: 'map',
  anything: 'anything',
}

function typeWords({ type, items, values }: DataNode): string {
  if (type === 'list' && items) return `list of ${plural(typeWords(items))}`
  if (type === 'map' && items) return `map of ${plural(typeWords(items))}`
  return values ? values.map(code).join(', ') : WORDS[type]
}

const plural = (words: string): string =>
  /^(true|anything|`)/.test(words)
    ? words
    : words.replace(/^(text|number|amount|time|record|list|map)\b/, '$1s')

/**
 * The records described so far in a part of the page, with their paths. Records that were already described are named, not
 * repeated.
 */
type ShownRecords = Map<string, string>

function lines(node: DataNode, path: string, shownRecords: ShownRecords, depth = ''): string[] {
  const inner = node.items ? `${path}${node.type === 'map' ? '[key]' : '[]'}` : path
  const element = node.items ?? node
  if (element !== node && element.items) return lines(element, inner, shownRecords, depth)
  return Object.entries(element.members ?? {}).flatMap(([name, member]) => {
    const at = `${inner}.${name}`
    return [line(at, member, shownRecords, depth), ...memberLines(member, at, shownRecords, depth)]
  })
}

/** Returns the record at the end of lists and maps. */
function recordIn(node: DataNode): DataNode | undefined {
  return node.items ? recordIn(node.items) : node.members && node
}

function memberLines(member: DataNode, at: string, told: ShownRecords, depth: string): string[] {
  const record = recordIn(member)
  if (!record) return []
  const shape = JSON.stringify(record.members)
  if (told.has(shape)) return []
  told.set(shape, at)
  return lines(member, at, told, `${depth}  `)
}

function line(path: string, node: DataNode, told: ShownRecords, depth: string): string {
  const { description, isOptional, readers } = node
  const record = recordIn(node)
  const shownAt = record && told.get(JSON.stringify(record.members))
  const facts = [typeWords(node), ...(isOptional ? ['or nothing'] : [])].join(', ')
  const seen = readersWords(readers)
  return `${depth}- ${code(path)} (${facts}): ${description}${shownAt ? ` Same properties as ${code(shownAt)}.` : ''}${seen ? ` Only in ${seen}.` : ''}`
}

/** Lists every path of `data` in templates, by who sees it. */
function templateSections(): string[] {
  const { members = {} } = templateTree()
  const told: ShownRecords = new Map()
  return Object.entries(members).flatMap(([name, node]) => {
    const path = `data.${name}`
    const seen = readersWords(node.readers)
    const record = recordIn(node)
    const type = `It is ${node.isOptional ? 'nothing, or ' : ''}${node.type === 'text' && node.values ? `one of ${typeWords(node)}` : `a ${typeWords(node)}`}.`
    return [
      `### ${path}`,
      [node.description, ...(record ? [] : [type]), `Available in ${seen || 'all templates'}.`].join(' '),
      ...(record ? [lines(node, path, told).join('\n')] : []),
    ]
  })
}

function pluginSections(): string[] {
  const told: ShownRecords = new Map()
  return PLUGIN_FUNCTIONS.filter(name => name !== 'executeLambda').flatMap(name => {
    const node = PLUGIN_INPUTS[name]()
    return [`### ${name}`, node.description, lines(node, 'data', told).join('\n')]
  })
}

/** Writes the reference: what templates read, part by part, and the input of each plugin function. */
export const dataReference = (): string =>
  ['## Templates', ...templateSections(), '## Plugins', ...pluginSections()].join('\n\n')

/** Returns the text with the reference of the present tree between its markers. Throws if the markers are missing. */
export const withDataReference = (page: string): string =>
  betweenMarks(page, DATA_BEGIN, DATA_END, dataReference())

export const DATA_PAGE = join(import.meta.dirname, '../docs/template-data.md')

if (import.meta.main) writeFileSync(DATA_PAGE, withDataReference(readFileSync(DATA_PAGE, 'utf8')))
