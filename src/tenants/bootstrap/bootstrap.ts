// The resources that an archive gives a new tenant: `bootstrap/resources` (resources brief 2).
import type { Bootstrap, ResourceType } from '../../product/resources.ts'

/** The kind of the timer that creates the items; its payload names the archive. */
export const BOOTSTRAP_TIMER = 'resource.bootstrap'

export const BOOTSTRAP_STATUSES = ['queued', 'created', 'failed'] as const
export type BootstrapStatus = (typeof BOOTSTRAP_STATUSES)[number]

/** One resource or group. Resources come before groups. */
export type BootstrapItem = {
  readonly ordinal: number
  readonly kind: 'resource' | 'group'
  readonly name: string
  /** Of a resource. */
  readonly type: ResourceType | null
  readonly status: BootstrapStatus
  /** Why it failed. */
  readonly message: string | null
  /** How many attempts were begun. */
  readonly attempts: number
}

/** The items before any is created. */
export const queuedItems = ({ resources, groups }: Bootstrap): BootstrapItem[] =>
  [
    ...resources.map(({ name, type }) => ({ kind: 'resource' as const, name, type })),
    ...groups.map(({ name }) => ({ kind: 'group' as const, name, type: null })),
  ].map((item, ordinal) => ({ ...item, ordinal, status: 'queued' as const, message: null, attempts: 0 }))
