// The configuration's resources: data and text that products use and that change on dates of their own (resources brief
// 1 and 2). config.json declares tables; bootstrap/resources contains those that a tenant starts with.
import type { Instant } from '../kernel/time.ts'

/** Names in responses and in the list by type (contract 2; resources brief 2). */
export const RESOURCE_TYPES = [
  'table',
  'rangeTable',
  'constraintTable',
  'documentTemplate',
  'documentTemplateSnippet',
  'staticDocument',
  'customFont',
  'secret',
] as const
export type ResourceType = (typeof RESOURCE_TYPES)[number]

export const TEMPLATE_FORMATS = ['liquid', 'velocity'] as const
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number]

/** Resource and static names (resources brief 0.3). */
export const RESOURCE_NAME = /^_?[a-zA-Z$][a-zA-Z\d_$]*$/
export const LONGEST_RESOURCE_NAME = 128
export const LONGEST_FONT_STATIC_NAME = 120

/** Endings of template names in a configuration; static names have none. */
const TEMPLATE_ENDING = /(?:\.template)?\.(?:liquid|vm|velocity)$/

/** The static name of the resource that takes precedence over the configuration's template of that name. */
export const staticNameOf = (templateName: string): string => templateName.replace(TEMPLATE_ENDING, '')

/** The static name of the resource that may stand for a static document of that file name. */
export const staticNameOfFile = (fileName: string): string => fileName.replace(/\.\w{1,5}$/, '')

/** Group and secret names are any text of 1 to 128 characters. */
export const LONGEST_JURISDICTION = 64
export const MOST_JURISDICTIONS = 100
export const MOST_GROUP_RESOURCES = 5_000

/** As configurations name them. */
export const COLUMN_TYPES = ['string', 'int', 'long', 'decimal', 'boolean', 'date', 'datetime'] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

/** Times of a policy that can select the contents in force. */
export const SELECTION_TIME_BASES = [
  'policyStartTime',
  'termStartTime',
  'transactionEffectiveTime',
  'currentTime',
] as const
export type SelectionTimeBasis = (typeof SELECTION_TIME_BASES)[number]

/** Time and place of a transaction, which select the contents of a table (policy/surroundings.ts). */
export type SelectionBasis = Readonly<Record<SelectionTimeBasis, Instant>> & {
  readonly jurisdiction?: string | undefined
}

/** For an account, which has only the present time and no jurisdiction. */
export const allAt = (at: Instant): SelectionBasis => ({
  policyStartTime: at,
  termStartTime: at,
  transactionEffectiveTime: at,
  currentTime: at,
})

type DeclaredColumn = { name: string; dataType: ColumnType; isKey: boolean }

/** The order of the columns is that of the keys. */
export type TableDeclaration = { columns: DeclaredColumn[]; selectionTimeBasis: SelectionTimeBasis }

/** `rangeStart` and `rangeEnd` name columns. */
export type RangeTableDeclaration = TableDeclaration & { rangeStart: string; rangeEnd?: string }

export type ConstraintTableDeclaration = {
  columns: { name: string; dataType: ColumnType; makeDistinct: boolean }[]
  selectionTimeBasis: SelectionTimeBasis
}

/** config.json, by static name (resources brief 1.1). */
export type ResourceDeclarations = {
  tables: Record<string, TableDeclaration>
  rangeTables: Record<string, RangeTableDeclaration>
  constraintTables: Record<string, ConstraintTableDeclaration>
  /** Snippets that are selected for another time than the including template. */
  templateSnippets?: Record<string, { selectionTimeBasis: SelectionTimeBasis }>
}

export type Selectable = { readonly name: string; readonly jurisdictions: readonly string[] }

/** Pairs that cannot share a group: same static name, and same jurisdiction or none (resources brief 2). */
export function clashes<R extends Selectable & { readonly staticName: string }>(
  members: readonly R[],
): (readonly [R, R])[] {
  const found: (readonly [R, R])[] = []
  const byStaticName = Map.groupBy(members, one => one.staticName)
  for (const alike of byStaticName.values())
    for (const [at, one] of alike.entries())
      for (const other of alike.slice(at + 1))
        if (overlap(one.jurisdictions, other.jurisdictions)) found.push([one, other])
  return found
}

const overlap = (places: readonly string[], others: readonly string[]): boolean =>
  places.length === 0 ? others.length === 0 : places.some(place => others.includes(place))

const MOST_HOSTS = 50
const LABEL = '[a-z\\d]([a-z\\d-]{0,61}[a-z\\d])?'
const HOST = new RegExp(`^(\\*\\.)?${LABEL}(\\.${LABEL})*$|^\\[[\\da-f:.]+\\]$`)

/** Lower case, without duplicates. */
export const normalHosts = (wanted: readonly string[]): string[] => [
  ...new Set(wanted.map(host => host.trim().toLowerCase().replace(/\.$/, ''))),
]

/** The problem and its fix; undefined if all are hosts. */
export function hostsProblem(hosts: readonly string[]): string | undefined {
  const wrong = hosts.filter(host => host.length > 253 || !HOST.test(host))
  const shown = wrong.slice(0, 5).map(host => `'${host.slice(0, 80).toWellFormed()}'`)
  if (wrong.length > 0)
    return `${shown.join(', ')}: write host names without scheme, port and path, or *.example.com for every name below`
  return hosts.length > MOST_HOSTS ? `${hosts.length} hosts, more than ${MOST_HOSTS}` : undefined
}

export const BOOTSTRAP_PATH = 'bootstrap/resources'

/** Type of resource by folder of `resourceFiles`. The brief does not name the last three. */
export const BOOTSTRAP_FOLDERS = {
  tables: 'table',
  constraintTables: 'constraintTable',
  documentTemplates: 'documentTemplate',
  documentTemplatesSnippets: 'documentTemplateSnippet',
  staticDocuments: 'staticDocument',
  secrets: 'secret',
  rangeTables: 'rangeTable',
  documentTemplateSnippets: 'documentTemplateSnippet',
  fonts: 'customFont',
} as const satisfies Record<string, ResourceType>

export type BootstrapFolder = keyof typeof BOOTSTRAP_FOLDERS

export type BootstrapResource = {
  readonly name: string
  readonly type: ResourceType
  readonly staticName: string
  readonly jurisdictions: readonly string[]
  /** For secrets: hosts that may receive it. Absent: every permitted address. */
  readonly allowedHosts?: readonly string[]
  /** Path in the archive. */
  readonly path: string
}

export type BootstrapGroup = {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly selectionStart: Instant
  readonly resourceNames: readonly string[]
}

export type Bootstrap = {
  readonly resources: readonly BootstrapResource[]
  readonly groups: readonly BootstrapGroup[]
}

/** Per document, beside the service's own fonts. */
export const MOST_FONTS = 8
