// Response schemas of migrations (contract 2, Migration; resources brief 9.1).
import { z } from '@hono/zod-openapi'
import {
  booleanOr,
  component,
  DateTime,
  Flag,
  Integer,
  ListCompleted,
  OptionalText,
  optional,
  PageSize,
  PagingToken,
  RequestBoolean,
  requestInteger,
  Text,
  Texts,
} from '../../platform/wire.ts'
import { ACCOUNT_STATES, MIGRATION_STATES } from './tables.ts'

const ValidationItems = z.array(
  z.object({
    elementType: Text,
    locator: Text.describe('Path of original ids, such as P1/terms[0]/transactions[2]/veh-3.'),
    errors: Texts,
  }),
)

export const MigrationResponse = component('MigrationResponse', {
  locator: Text,
  migrationState: z.enum(MIGRATION_STATES),
  migrationType: z.enum(['fullMigration', 'addAccountItems']),
  processedAccounts: Integer.describe('Number of completed accounts.'),
  totalAccounts: Integer,
  validateOnly: Flag.describe('Whether the migration only checks everything and writes no records.'),
  accounts: z
    .object({
      pending: Integer,
      processing: Integer,
      completed: Integer,
      failed: Integer,
      error: Integer,
    })
    .describe('Number of accounts in each state.'),
  accountsPerSecond: z
    .number()
    .optional()
    .describe('While processing: the rate since it last started or resumed.'),
  secondsLeft: Integer.optional().describe('While processing: estimated remaining time.'),
  createdAt: DateTime,
  updatedAt: DateTime,
})
export type MigrationResponse = z.output<typeof MigrationResponse>

export const MigrationListQuery = z.object({
  open: optional(RequestBoolean).describe(
    'Only unfinished migrations: submitted, processing, paused, failed, or stopped by an error.',
  ),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type MigrationListQuery = z.output<typeof MigrationListQuery>

const { locator, migrationState, migrationType, totalAccounts, validateOnly } = MigrationResponse.shape

export const MigrationSummaryResponse = component('MigrationSummaryResponse', {
  locator,
  migrationState,
  migrationType,
  totalAccounts,
  validateOnly,
  username: Text.describe('The user who submitted it.'),
  createdAt: DateTime,
  updatedAt: DateTime,
})
export type MigrationSummaryResponse = z.output<typeof MigrationSummaryResponse>

export const MigrationListResponse = component('MigrationListResponse', {
  listCompleted: ListCompleted,
  items: z.array(MigrationSummaryResponse),
  pagingToken: OptionalText.describe('Absent on the last page.'),
})
export type MigrationListResponse = z.output<typeof MigrationListResponse>

export const AccountMigrationResponse = component('AccountMigrationResponse', {
  accountLocator: Text,
  accountOriginalId: Text,
  accountMigrationState: z.enum(ACCOUNT_STATES),
  totalItems: Integer,
  processedItems: Integer.describe('Number of migrated items.'),
  errorItems: Integer.describe('Number of items that failed, because of their data or a system error.'),
  lastUpdated: DateTime,
  warnings: ValidationItems.optional().describe('Unusual data that was accepted.'),
})
export type AccountMigrationResponse = z.output<typeof AccountMigrationResponse>

export const ValidationResult = component('ValidationResult', {
  success: Flag,
  validationItems: ValidationItems,
})

export const ErrorDetailsResponse = component('ErrorDetailsResponse', {
  originalId: Text,
  errors: ValidationResult,
})
export type ErrorDetailsResponse = z.output<typeof ErrorDetailsResponse>

const byKind = <S extends z.ZodType>(schema: S) => ({
  policies: schema,
  invoices: schema,
  payments: schema,
  disbursements: schema,
})

export const MigrationFailuresResponse = component('MigrationFailuresResponse', {
  accountLocator: Text,
  accountOriginalId: Text,
  accountError: ErrorDetailsResponse.optional(),
  ...byKind(z.record(Text, ErrorDetailsResponse).describe('By original id.')),
})
export type MigrationFailuresResponse = z.output<typeof MigrationFailuresResponse>

export type MappingObject = {
  originalId: string
  locator: string
  migratedAt: string
  childrenMappings: Record<string, MappingObject>
}

export const MappingObject: z.ZodType<MappingObject> = z
  .object({
    originalId: Text,
    locator: Text,
    migratedAt: DateTime,
    childrenMappings: z.record(
      Text,
      z.lazy(() => MappingObject),
    ),
  })
  .openapi('MappingObject', {
    type: 'object',
    // Written by hand, since the schema contains itself.
    properties: {
      originalId: { type: 'string' },
      locator: { type: 'string' },
      migratedAt: { type: 'string', format: 'date-time' },
      childrenMappings: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/MappingObject' },
      },
    },
    required: ['originalId', 'locator', 'migratedAt', 'childrenMappings'],
  })

export const AccountMigrationIdMappingsResponse = component('AccountMigrationIdMappingsResponse', {
  accountLocator: Text,
  migrationLocator: Text,
  originalAccountId: Text,
  ...byKind(z.record(Text, MappingObject).describe('By locator, or with `by=originalId` by original id.')),
})
export type AccountMigrationIdMappingsResponse = z.output<typeof AccountMigrationIdMappingsResponse>

/** A page with `listCompleted`; with `extended=false` only the list. */
const listOf = <S extends z.ZodType>(item: S, name: string) =>
  z.union([z.object({ listCompleted: Flag, items: z.array(item) }).openapi(name), z.array(item)])

export const AccountMigrationListResponse = listOf(AccountMigrationResponse, 'AccountMigrationListResponse')
export const MigrationFailuresListResponse = listOf(
  MigrationFailuresResponse,
  'MigrationFailuresListResponse',
)
export const AccountMigrationIdMappingsListResponse = listOf(
  AccountMigrationIdMappingsResponse,
  'AccountMigrationIdMappingsListResponse',
)

const page = {
  offset: optional(requestInteger(0, 1_000_000))
    .transform(offset => offset ?? 0)
    .describe('Number of entries to skip. Default: 0.'),
  count: PageSize,
  extended: booleanOr(true).describe('false: the response is only the list.'),
}
const By = z.enum(['locator', 'originalId']).default('locator').describe('The keys of the maps.')

export const MigrationPageQuery = z.object(page)
export type MigrationPageQuery = z.output<typeof MigrationPageQuery>

export const MappingPageQuery = z.object({ ...page, by: By })
export type MappingPageQuery = z.output<typeof MappingPageQuery>

export const MappingQuery = z.object({ by: By })

export const MigrationPostQuery = z.object({
  validateOnly: booleanOr(false).describe('Check and report everything, but write no record.'),
})
