// What an archive gives a tenant to start with: `bootstrap/resources` (resources brief 2).
import type { Bootstrap, ResourceType } from '../../product/resources.ts'

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
