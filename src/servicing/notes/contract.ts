// Notes of staff on records. Bindery only.
import { z } from '@hono/zod-openapi'
import {
  component,
  Locator,
  OptionalLocator,
  OptionalText,
  optional,
  PageSize,
  PagingToken,
  shortText,
  Text,
  Timestamp,
} from '../../platform/wire.ts'
import { LONGEST_NOTE, NOTED_RECORDS } from './tables.ts'

export const NoteCreateRequest = component('NoteCreateRequest', {
  recordType: z.enum(NOTED_RECORDS),
  recordLocator: Locator,
  text: shortText(LONGEST_NOTE).describe(`Plain text of at most ${LONGEST_NOTE} characters.`),
})
export type NoteCreateRequest = z.infer<typeof NoteCreateRequest>

export const NoteResponse = component('NoteResponse', {
  locator: Text,
  recordType: z.enum(NOTED_RECORDS),
  recordLocator: Text,
  policyholderLocator: Text,
  policyLocator: OptionalText.describe('Absent for a note on a policyholder.'),
  text: Text,
  username: Text.describe('The author.'),
  createdTimestamp: Timestamp,
})
export type NoteResponse = z.infer<typeof NoteResponse>

export const NoteListQuery = z.object({
  policyLocator: OptionalLocator.describe('Notes on the policy, its quotes, endorsements and renewals.'),
  policyholderLocator: OptionalLocator.describe('Notes on the policyholder and all its policies.'),
  recordType: optional(z.enum(NOTED_RECORDS)),
  recordLocator: OptionalLocator.describe('Only notes on this record.'),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type NoteListQuery = z.infer<typeof NoteListQuery>

export const NoteListResponse = component('NoteListResponse', {
  items: z.array(NoteResponse),
  pagingToken: OptionalText.describe('Absent on the last page.'),
  listCompleted: z.boolean().describe('Whether this is the last page.'),
})
export type NoteListResponse = z.infer<typeof NoteListResponse>
