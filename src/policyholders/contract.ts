// Policyholders: an entity of values with sub-entities, in versions (brief 7).
import { z } from '@hono/zod-openapi'
import { checkSearch, SEARCH_PARAMETERS } from '../platform/search.ts'
import {
  booleanOr,
  component,
  DeprecatedText,
  FieldValueLists,
  Flag,
  Integer,
  Locator,
  list,
  Name,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  PageSize,
  PagingToken,
  RequestBoolean,
  RequestFieldValues,
  requestInteger,
  Text,
  Timestamp,
} from '../platform/wire.ts'

/** `localId` lets other values of the same request refer to the sub-entity before it has a locator. */
export const SubEntityCreateRequest = component('SubEntityCreateRequest', {
  completed: RequestBoolean,
  ontologyUri: Name.describe('The name of the dictionary entry of the sub-entity.'),
  values: RequestFieldValues,
  localId: OptionalName,
})
export type SubEntityCreateRequest = z.infer<typeof SubEntityCreateRequest>

export const SubEntityUpdateRequest = component('SubEntityUpdateRequest', {
  locator: Locator,
  completed: RequestBoolean,
  ontologyUri: Name,
  values: RequestFieldValues,
})
export type SubEntityUpdateRequest = z.infer<typeof SubEntityUpdateRequest>

const newSubEntities = list(SubEntityCreateRequest)

export const PolicyholderCreateRequest = component('PolicyholderCreateRequest', {
  completed: booleanOr(true).describe(
    'false keeps the policyholder a draft: none of its policies can be finalized.',
  ),
  subEntities: newSubEntities,
  values: RequestFieldValues,
})
export type PolicyholderCreateRequest = z.infer<typeof PolicyholderCreateRequest>

export const PolicyholderUpdateRequest = component('PolicyholderUpdateRequest', {
  locator: Locator,
  completed: RequestBoolean,
  version: requestInteger(1).describe('The version that was read. Any other version is answered with 409.'),
  values: RequestFieldValues,
  addSubEntities: newSubEntities,
  updateSubEntities: list(SubEntityUpdateRequest),
  deleteSubEntities: list(Locator),
})
export type PolicyholderUpdateRequest = z.infer<typeof PolicyholderUpdateRequest>

/** A query for all policyholders, or those whose searchable field equals a value or begins with a prefix, ignoring case. */
export const PolicyholderListQuery = z
  .object({
    createdAfterTimestamp: OptionalTimestamp,
    createdBeforeTimestamp: OptionalTimestamp,
    ...SEARCH_PARAMETERS,
    pageSize: PageSize,
    pagingToken: PagingToken,
  })
  .check(checkSearch)
export type PolicyholderListQuery = z.infer<typeof PolicyholderListQuery>

const replacement = z.string().max(20_000)

/** New values by field name, for every stored version. Cannot be undone. */
export const PolicyholderOverwriteDataRequest = component('PolicyholderOverwriteDataRequest', {
  overwrites: z.preprocess(wire => wire ?? {}, z.record(Text, replacement)),
})
export type PolicyholderOverwriteDataRequest = z.infer<typeof PolicyholderOverwriteDataRequest>

export const PolicyholderOverwriteDataResponse = component('PolicyholderOverwriteDataResponse', {
  policyholderLocator: Text,
})
export type PolicyholderOverwriteDataResponse = z.infer<typeof PolicyholderOverwriteDataResponse>

const EntityFlag = z.enum([
  'flag.entity.workflow.complete',
  'flag.entity.workflow.started',
  'flag.entity.canceled',
  'flag.entity.test',
])

/** Values of a policyholder or sub-entity. `accountLocator` is the account that created it. */
export const EntityResponse = z
  .object({
    locator: Text,
    accountLocator: Text,
    ontologyUri: OptionalText.describe('For a sub-entity: the name of its dictionary entry.'),
    completed: Flag,
    createdTimestamp: Timestamp,
    updatedTimestamp: Timestamp,
    values: FieldValueLists,
    get subEntitiesByLocator() {
      return z.record(Text, EntityResponse).optional()
    },
    flags: z.array(EntityFlag).openapi({ deprecated: true }),
    revision: DeprecatedText,
  })
  .openapi('EntityResponse')
export type EntityResponse = z.infer<typeof EntityResponse>

export const PolicyholderResponse = component('PolicyholderResponse', {
  locator: Text,
  version: Integer.describe('Starts at 1 and increases by one with each update.'),
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  entity: EntityResponse,
})
export type PolicyholderResponse = z.infer<typeof PolicyholderResponse>

export const PolicyholderPageResponse = component('PolicyholderPageResponse', {
  policyholders: z.array(PolicyholderResponse),
  pagingToken: OptionalText.describe('Absent on the last page.'),
})
export type PolicyholderPageResponse = z.infer<typeof PolicyholderPageResponse>
