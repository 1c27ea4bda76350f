// Resources and resource groups on the wire (contract 2, Resources; resources brief 0 and 2). Numbers are plain, times are ISO
// 8601.
import { z } from '@hono/zod-openapi'
import {
  booleanOr,
  component,
  DateTime,
  Flag,
  Name,
  OptionalBoolean,
  optional,
  PageSize,
  RequestDateTime,
  requestInteger,
  Text,
  Texts,
  withDefaults,
} from '../platform/wire.ts'
import { rule } from '../platform/wire-problem.ts'
import {
  LONGEST_JURISDICTION,
  LONGEST_RESOURCE_NAME,
  MOST_GROUP_RESOURCES,
  MOST_JURISDICTIONS,
  RESOURCE_NAME,
  RESOURCE_TYPES,
  TEMPLATE_FORMATS,
} from '../product/resources.ts'

export const ResourceName = z
  .string()
  .max(LONGEST_RESOURCE_NAME)
  .regex(
    RESOURCE_NAME,
    rule('must begin with a letter or $, optionally after _, and contain only letters, digits, _ and $'),
  )
  .openapi({ example: 'motor_base_2027' })

/** A query parameter with one or more values: `jurisdiction=CA&jurisdiction=NY`. */
export const textsOf = (text: z.ZodString, most: number) =>
  z
    .preprocess(wire => [wire ?? []].flat(), z.array(text).max(most))
    .openapi({ type: 'array', items: { type: 'string' } })

export const Jurisdictions = textsOf(z.string().min(1).max(LONGEST_JURISDICTION), MOST_JURISDICTIONS)

export const ResourceCreateQuery = z.object({
  name: ResourceName,
  staticName: ResourceName,
  jurisdiction: Jurisdictions.optional(),
})

/** Selects the resource of a static name by time and jurisdiction. */
export const SelectionQuery = z.object({
  byStaticName: booleanOr(false),
  date: optional(RequestDateTime),
  jurisdiction: optional(z.string().min(1).max(LONGEST_JURISDICTION)),
})
export type SelectionQuery = z.output<typeof SelectionQuery>

const ResourceTypes = z.enum(RESOURCE_TYPES)

const basicFields = {
  name: Text,
  resourceType: ResourceTypes,
  createdAt: DateTime,
  createdBy: Text,
  staticName: Text.optional(),
  jurisdictions: Texts,
  lookupTableLocator: Text.optional(),
  rangeTableLocator: Text.optional(),
  constraintTableLocator: Text.optional(),
  staticDocumentLocator: Text.optional(),
  fontLocator: Text.optional(),
  templateFormat: z.enum(TEMPLATE_FORMATS).optional(),
  template: Text.optional().describe('Locator of the contents of a template or snippet.'),
  warnings: Texts.optional().describe('Problems in the upload that were ignored.'),
}

export const BasicResourceResponse = component('BasicResourceResponse', basicFields)
export type BasicResourceResponse = z.output<typeof BasicResourceResponse>

const Explanation = z.object({
  group: Text.optional(),
  groupLocator: Text.optional(),
  selectionStartTime: DateTime.optional(),
  revision: Text.optional(),
  reasons: Texts.describe(
    'Why this resource is in force, or why none is: the outcome for each group that was considered.',
  ),
})

export const ResourceResponse = component('ResourceResponse', {
  ...basicFields,
  format: z
    .enum(['text', 'html', 'pdf', 'jpg', 'jpeg', 'doc', 'docx', 'xls', 'xlsx', 'csv', 'txt', 'zip'])
    .optional(),
  rendering: z.enum(['dynamic', 'prerendered']).optional(),
  scope: z.enum(['transaction', 'policy', 'term', 'segment', 'invoice']).optional(),
  trigger: z
    .enum([
      'validated',
      'priced',
      'accepted',
      'underwritten',
      'issued',
      'generated',
      'declined',
      'rejected',
      'refused',
    ])
    .optional(),
  explanation: Explanation.optional(),
})
export type ResourceResponse = z.output<typeof ResourceResponse>

/** The response with `explain=true` if no resource of the static name is in force. */
export const NothingInForceResponse = component('NothingInForceResponse', {
  staticName: Text,
  explanation: Explanation,
})
export type NothingInForceResponse = z.output<typeof NothingInForceResponse>

export const ResourceAnswer = z.union([ResourceResponse, NothingInForceResponse])

export const ListQuery = z.object({
  offset: optional(requestInteger(0)),
  count: PageSize,
  extended: booleanOr(true).describe('If false, returns only the array.'),
})
export type ListQuery = z.output<typeof ListQuery>

const listOf = <S extends z.ZodType>(items: S) =>
  z.object({
    listCompleted: Flag.describe('Whether this is the last page.'),
    items: z.array(items),
  })

export const ResourceListResponse = listOf(ResourceResponse).openapi('ResourceListResponse')
export type ResourceListResponse = z.output<typeof ResourceListResponse>

/** With `extended=false`, a bare array. */
export const ResourceList = z.union([ResourceListResponse, z.array(ResourceResponse)])

export const GroupListQuery = ListQuery.extend({
  excludeRetired: booleanOr(true),
  excludeActive: booleanOr(false),
})
export type GroupListQuery = z.output<typeof GroupListQuery>

export const ResourceGroupResponse = component('ResourceGroupResponse', {
  locator: Text,
  name: Text,
  selectionStartTime: DateTime,
  createdAt: DateTime,
  createdBy: Text,
  retired: Flag,
  resourceNames: Texts,
})
export type ResourceGroupResponse = z.output<typeof ResourceGroupResponse>

const ResourceGroupListResponse = listOf(ResourceGroupResponse).openapi('ResourceGroupListResponse')
export const ResourceGroupList = z.union([ResourceGroupListResponse, z.array(ResourceGroupResponse)])

const Names = z.array(z.string().min(1).max(LONGEST_RESOURCE_NAME)).max(MOST_GROUP_RESOURCES)

/** Lists that are left out are empty (brief 0.3). */
export const ResourceGroupCreateRequest = withDefaults(
  { resourceNames: [] },
  z.object({ name: Name, selectionStartTime: RequestDateTime, resourceNames: Names }),
).openapi('ResourceGroupCreateRequest')
export type ResourceGroupCreateRequest = z.output<typeof ResourceGroupCreateRequest>

export const ResourceGroupUpdateRequest = withDefaults(
  { addResources: [], removeResources: [] },
  z.object({
    name: Name,
    selectionStartTime: RequestDateTime,
    addResources: Names,
    removeResources: Names,
  }),
).openapi('ResourceGroupUpdateRequest')
export type ResourceGroupUpdateRequest = z.output<typeof ResourceGroupUpdateRequest>

export const ExplainQuery = SelectionQuery.extend({ explain: OptionalBoolean })
export type ExplainQuery = z.output<typeof ExplainQuery>
