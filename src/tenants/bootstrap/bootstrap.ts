// What an archive gives a tenant to start with: `bootstrap/resources` (resources brief 2).
import type { Instant } from '../../kernel/time.ts'
import type { ResourceType } from '../../reference/resource.ts'

export const BOOTSTRAP_PATH = 'bootstrap/resources'

/** Folders of `resourceFiles`, and what lies in them. The last three are not in the brief, which names no such types. */
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
  /** Of a secret: the hosts that it may be sent to. Absent: every address that may be called. */
  readonly allowedHosts?: readonly string[]
  /** Its file in the archive. */
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

/** Kind of the timer that makes the items; its payload names the archive. */
export const BOOTSTRAP_TIMER = 'resource.bootstrap'

export const BOOTSTRAP_STATUSES = ['queued', 'created', 'failed'] as const
export type BootstrapStatus = (typeof BOOTSTRAP_STATUSES)[number]

/** One resource or group, in the order in which they are made: resources first. */
export type BootstrapItem = {
  readonly ordinal: number
  readonly kind: 'resource' | 'group'
  readonly name: string
  /** Of a resource. */
  readonly type: ResourceType | null
  readonly status: BootstrapStatus
  /** Why it failed. */
  readonly message: string | null
  /** How often its making was begun. */
  readonly attempts: number
}

/** The items as they are before any is made. */
export const queuedItems = ({ resources, groups }: Bootstrap): BootstrapItem[] =>
  [
    ...resources.map(({ name, type }) => ({ kind: 'resource' as const, name, type })),
    ...groups.map(({ name }) => ({ kind: 'group' as const, name, type: null })),
  ].map((item, ordinal) => ({ ...item, ordinal, status: 'queued' as const, message: null, attempts: 0 }))
