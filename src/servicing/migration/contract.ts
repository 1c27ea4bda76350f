// What migrations answer (contract 2, Migration; resources brief 9.1).
import { z } from '@hono/zod-openapi'
import {
  booleanOr,
  DateTime,
  Flag,
  Integer,
  optional,
  PageSize,
  requestInteger,
  Text,
  Texts,
} from '../../platform/wire.ts'
import { ACCOUNT_STATES, MIGRATION_STATES } from './tables.ts'

const ValidationItems = z.array(
  z.object({
    elementType: Text,
    locator: Text.openapi({ description: 'Path of original ids, as P1/terms[0]/transactions[2]/veh-3.' }),
    errors: Texts,
  }),
)

export const MigrationResponse = z
  .object({
    locator: Text,
    migrationState: z.enum(MIGRATION_STATES),
    migrationType: z.enum(['fullMigration', 'addAccountItems']),
    processedAccounts: Integer.openapi({ description: 'Accounts that are completed.' }),
    totalAccounts: Integer,
    validateOnly: Flag.openapi({ description: 'Whether everything is checked and no record written.' }),
    accounts: z
      .object({
        pending: Integer,
        processing: Integer,
        completed: Integer,
        failed: Integer,
        error: Integer,
      })
      .openapi({ description: 'How many accounts are in which state.' }),
    accountsPerSecond: z.number().optional().openapi({
      description: 'While it is processing: of those that are done since it began, or last went on.',
    }),
    secondsLeft: Integer.optional().openapi({
      description: 'While it is processing: what it will take for the rest, at that rate.',
    }),
    createdAt: DateTime,
    updatedAt: DateTime,
  })
  .openapi('MigrationResponse')
export type MigrationResponse = z.output<typeof MigrationResponse>

export const AccountMigrationResponse = z
  .object({
    accountLocator: Text,
    accountOriginalId: Text,
    accountMigrationState: z.enum(ACCOUNT_STATES),
    totalItems: Integer,
    processedItems: Integer.openapi({ description: 'Items that were migrated.' }),
    errorItems: Integer.openapi({
      description: 'Items that were not, for a fault of theirs or of the system.',
    }),
    lastUpdated: DateTime,
    warnings: ValidationItems.optional().openapi({
      description: 'What is odd and was taken all the same, e.g. a createdAt after the time of issue.',
    }),
  })
  .openapi('AccountMigrationResponse')
export type AccountMigrationResponse = z.output<typeof AccountMigrationResponse>

export const ValidationResult = z
  .object({ success: Flag, validationItems: ValidationItems })
  .openapi('ValidationResult')

export const ErrorDetailsResponse = z
  .object({ originalId: Text, errors: ValidationResult })
  .openapi('ErrorDetailsResponse')
export type ErrorDetailsResponse = z.output<typeof ErrorDetailsResponse>

const failuresById = z.record(Text, ErrorDetailsResponse).openapi({ description: 'By original id.' })

export const MigrationFailuresResponse = z
  .object({
    accountLocator: Text,
    accountOriginalId: Text,
    accountError: ErrorDetailsResponse.optional(),
    policies: failuresById,
    invoices: failuresById,
    payments: failuresById,
    disbursements: failuresById,
  })
  .openapi('MigrationFailuresResponse')
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
    // Told by hand, since it contains itself.
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

const mappings = z
  .record(Text, MappingObject)
  .openapi({ description: 'By locator, or with `by=originalId` by original id.' })

export const AccountMigrationIdMappingsResponse = z
  .object({
    accountLocator: Text,
    migrationLocator: Text,
    originalAccountId: Text,
    policies: mappings,
    invoices: mappings,
    payments: mappings,
    disbursements: mappings,
  })
  .openapi('AccountMigrationIdMappingsResponse')
export type AccountMigrationIdMappingsResponse = z.output<typeof AccountMigrationIdMappingsResponse>

/** A page with what tells whether it was the last; with `extended=false` the list alone. */
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
    .openapi({ description: 'Entries to skip; 0 by default.' }),
  count: PageSize,
  extended: booleanOr(true).openapi({ description: 'false: the bare list.' }),
}
const By = z
  .enum(['locator', 'originalId'])
  .default('locator')
  .openapi({ description: 'What the maps are keyed by.' })

export const MigrationPageQuery = z.object(page)
export type MigrationPageQuery = z.output<typeof MigrationPageQuery>

export const MappingPageQuery = z.object({ ...page, by: By })
export type MappingPageQuery = z.output<typeof MappingPageQuery>

export const MappingQuery = z.object({ by: By })

export const MigrationPostQuery = z.object({
  validateOnly: booleanOr(false).openapi({
    description: 'Checks everything as a migration does, reports what it finds, and writes no record.',
  }),
})
