// The configuration's resources: data and text that products use and that change on their own dates (resources brief 1 and 2).
// config.json declares tables; bootstrap/resources contains the resources that a tenant starts with.
import type { Instant } from '../kernel/time.ts'

/** Names of types in responses and in the list by type (contract 2; resources brief 2). */
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

/** Extensions of template names in a configuration. Static names have none. */
const TEMPLATE_ENDING = /(?:\.template)?\.(?:liquid|vm|velocity)$/

/** The static name of the resource that overrides the configuration's template of that name. */
export const staticNameOf = (templateName: string): string => templateName.replace(TEMPLATE_ENDING, '')

/** The static name of the resource that can replace a static document with that file name. */
export const staticNameOfFile = (fileName: string): string => fileName.replace(/\.\w{1,5}$/, '')

/** Limits of resources. The names of groups and secrets are any text of 1 to 128 characters. */
export const LONGEST_JURISDICTION = 64
export const MOST_JURISDICTIONS = 100
export const MOST_GROUP_RESOURCES = 5_000

/** Column types, as configurations name them. */
export const COLUMN_TYPES = ['string', 'int', 'long', 'decimal', 'boolean', 'date', 'datetime'] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

/** The times of a policy that can select the contents in force. */
export const SELECTION_TIME_BASES = [
  'policyStartTime',
  'termStartTime',
  'transactionEffectiveTime',
  'currentTime',
] as const
export type SelectionTimeBasis = (typeof SELECTION_TIME_BASES)[number]

/** The times and the jurisdiction of a transaction, which select the contents of a table (policy/selection-basis.ts). */
export type SelectionBasis = Readonly<Record<SelectionTimeBasis, Instant>> & {
  readonly jurisdiction?: string | undefined
}

/** The selection basis of an account, which has only the present time and no jurisdiction. */
export const basisAt = (at: Instant): SelectionBasis => ({
  policyStartTime: at,
  termStartTime: at,
  transactionEffectiveTime: at,
  currentTime: at,
})

type DeclaredColumn = { name: string; dataType: ColumnType; isKey: boolean }

/** The order of the columns is also the order of the keys. */
export type TableDeclaration = { columns: DeclaredColumn[]; selectionTimeBasis: SelectionTimeBasis }

/** `rangeStart` and `rangeEnd` name columns. */
export type RangeTableDeclaration = TableDeclaration & { rangeStart: string; rangeEnd?: string }

export type ConstraintTableDeclaration = {
  columns: { name: string; dataType: ColumnType; makeDistinct: boolean }[]
  selectionTimeBasis: SelectionTimeBasis
}

/** The declarations of config.json, by static name (resources brief 1.1). */
export type ResourceDeclarations = {
  tables: Record<string, TableDeclaration>
  rangeTables: Record<string, RangeTableDeclaration>
  constraintTables: Record<string, ConstraintTableDeclaration>
  /** Snippets that are selected for a different time than the template that includes them. */
  templateSnippets?: Record<string, { selectionTimeBasis: SelectionTimeBasis }>
}

export type Selectable = { readonly name: string; readonly jurisdictions: readonly string[] }

/**
 * Returns the pairs that cannot share a group: they have the same static name, and a jurisdiction in common or none at all
 * (resources brief 2).
 */
export function clashes<R extends Selectable & { readonly staticName: string }>(
  members: readonly R[],
): (readonly [R, R])[] {
  const found: (readonly [R, R])[] = []
  const byStaticName = Map.groupBy(members, one => one.staticName)
  for (const alike of byStaticName.values())
    for (const [at, one] of alike.entries())
      for (const other of alike.slice(at + 1))
        if (haveCommonPlace(one.jurisdictions, other.jurisdictions)) found.push([one, other])
  return found
}

const haveCommonPlace = (places: readonly string[], others: readonly string[]): boolean =>
  places.length === 0 ? others.length === 0 : places.some(place => others.includes(place))

const MOST_HOSTS = 50
const LABEL = '[a-z\\d]([a-z\\d-]{0,61}[a-z\\d])?'
const HOST = new RegExp(`^(\\*\\.)?${LABEL}(\\.${LABEL})*$|^\\[[\\da-f:.]+\\]$`)

/** Converts hosts to lower case and removes duplicates. */
export const normalHosts = (wanted: readonly string[]): string[] => [
  ...new Set(wanted.map(host => host.trim().toLowerCase().replace(/\.$/, ''))),
]

/** Returns the problem and its remedy; undefined if all are hosts. */
export function hostsProblem(hosts: readonly string[]): string | undefined {
  const wrong = hosts.filter(host => host.length > 253 || !HOST.test(host))
  const shown = wrong.slice(0, 5).map(host => `'${host.slice(0, 80).toWellFormed()}'`)
  if (wrong.length > 0)
    return `${shown.join(', ')}: use host names without scheme, port and path, or *.example.com for all subdomains`
  return hosts.length > MOST_HOSTS ? `${hosts.length} hosts, but the maximum is ${MOST_HOSTS}` : undefined
}

export const BOOTSTRAP_PATH = 'bootstrap/resources'

/** The type of the resources in each folder of `resourceFiles`. The brief does not name the last three. */
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
  /** For secrets: the hosts that may receive it. Absent: every permitted address. */
  readonly allowedHosts?: readonly string[]
  /** The path in the archive. */
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

/** The most fonts of a document, in addition to the service's own. */
export const MOST_FONTS = 8
