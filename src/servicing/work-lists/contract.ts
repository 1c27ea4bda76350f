// Work lists: the open work of a tenant, for servicing staff. Bindery only.
import { z } from '@hono/zod-openapi'
import {
  component,
  Flag,
  Integer,
  OptionalAmount,
  OptionalName,
  OptionalText,
  optional,
  PageSize,
  PagingToken,
  requestInteger,
  Text,
  Texts,
  Timestamp,
  withCurrency,
} from '../../platform/wire.ts'
import { ListedState } from '../../policy/list/contract.ts'

/** `store.ts` defines the content of each list. */
export const WORK_LISTS = [
  'referred',
  'applications',
  'quoted',
  'expiring',
  'pastDue',
  'inGrace',
  'reinstatable',
  'failedDocuments',
] as const
export type WorkListName = (typeof WORK_LISTS)[number]

export const RECORD_TYPES = [
  'quote',
  'endorsement',
  'renewal',
  'policy',
  'invoice',
  'gracePeriod',
  'lapse',
  'cancellation',
  'document',
] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** For lists with a span: how far ahead or back they reach. */
export const DEFAULT_DAYS = { expiring: 30, reinstatable: 90 } as const

const Days = optional(requestInteger(1, 366)).describe(
  `For \`expiring\`: policies that end within this number of days, ${DEFAULT_DAYS.expiring} by default. For \`reinstatable\`: cancellations by lapse within this number of past days, ${DEFAULT_DAYS.reinstatable} by default. Not allowed for other lists.`,
)

const filters = {
  productName: OptionalName,
  recordType: optional(z.enum(RECORD_TYPES)).describe(
    'Only records of this type. It must be a type of the list.',
  ),
}

export const WorkListQuery = z.object({
  ...filters,
  days: Days,
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type WorkListQuery = z.infer<typeof WorkListQuery>

export const WorkListCountQuery = z.object({ productName: OptionalName })
export type WorkListCountQuery = z.infer<typeof WorkListCountQuery>

/** A record that waits for a person, with its policy. */
export const WorkItemResponse = component('WorkItemResponse', {
  recordType: z.enum(RECORD_TYPES),
  locator: Text.describe('Locator of the record.'),
  name: OptionalText.describe('Name of the record, if it has one.'),
  state: Text.describe('State of the record.'),
  timestamp: Timestamp.describe(
    'The time that orders the list. `referred`, `applications`, `quoted`, `failedDocuments`: when the record last changed. `expiring`, `inGrace`: the end. `pastDue`: when it was due. `reinstatable`: the end of the reinstatement period, or when a cancellation by lapse was issued.',
  ),
  notes: Texts.describe('Underwriting notes. For a failed document: the reason.'),
  policyLocator: Text,
  policyholderLocator: Text,
  productName: Text,
  policyState: ListedState,
  ...withCurrency(OptionalAmount, 'grossPremium'),
})
export type WorkItemResponse = z.infer<typeof WorkItemResponse>

const counted = {
  count: Integer.describe('At most 1,000.'),
  hasMore: Flag.describe('Whether the list may have more records than were counted.'),
}

export const WorkListResponse = component('WorkListResponse', {
  items: z
    .array(WorkItemResponse)
    .describe(
      'A page can be shorter than `pageSize`, or empty, even if more records follow. `listCompleted` says when the list ends.',
    ),
  pagingToken: OptionalText.describe('Absent on the last page.'),
  listCompleted: Flag.describe('Whether this is the last page.'),
})
export type WorkListResponse = z.infer<typeof WorkListResponse>

export const WorkListCountResponse = component('WorkListCountResponse', {
  workList: z.enum(WORK_LISTS),
  ...counted,
})
export type WorkListCountResponse = z.infer<typeof WorkListCountResponse>
