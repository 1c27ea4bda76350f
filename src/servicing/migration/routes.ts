import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'
import {
  AccountMigrationRequest,
  MigrationRequest,
  PatchAccountMigrationRequest,
} from './contract-request.ts'
import { patchAccount } from './patch.ts'
import {
  getAccount,
  getMappings,
  getMigration,
  listAccounts,
  listFailures,
  listMappings,
  listMigrations,
} from './reading.ts'
import { pauseMigration, recoverMigration, resumeMigration, submitAccounts, submitItems } from './service.ts'

const { get, patch, post } = forTenant('Migration')
const RUNS = '/migration/{tenantLocator}/migrations'
const RUN = `${RUNS}/{migrationLocator}` as const

/** The largest request, in bytes (resources brief 9.4). */
const LARGEST_BODY = 25 * 1_048_576

export const migrationRoutes: readonly Route[] = [
  post(RUNS, {
    summary: 'Import accounts with their policies, invoices, payments and disbursements',
    description:
      'At most 1,000 accounts and 25 MB, 5,000 items per account. Split larger books into several migrations, of which four can run at a time. The body is read as a stream. Problems of an account are found when it is processed, and `…/failures/list` lists them. Nothing of a failing item is written. The header `X-Idempotency-Key` makes it repeatable for 30 days.',
    permission: 'migration.write',
    query: contract.MigrationPostQuery,
    upload: { largestBytes: LARGEST_BODY, json: z.array(AccountMigrationRequest) },
    answer: { schema: contract.MigrationResponse, description: 'The migration, submitted.' },
    handle: ({ query, file }, context) => submitAccounts(context, file, query.validateOnly),
  }),
  post(`${RUNS}/accounts/{accountLocator}`, {
    summary: 'Import more policies, invoices, payments and disbursements of an account',
    description:
      'The account is an existing policyholder, migrated or not. Its items refer to each other, and to invoices that were migrated for it before, by their original ids: payments pay these invoices, and installments of further policies add to them.',
    permission: 'migration.write',
    query: contract.MigrationPostQuery,
    upload: { largestBytes: LARGEST_BODY, json: MigrationRequest },
    answer: { schema: contract.MigrationResponse, description: 'The migration, submitted.' },
    handle: ({ params, query, file }, context) =>
      submitItems(context, params.accountLocator, file, query.validateOnly),
  }),
  get(`${RUNS}/list`, {
    summary: 'List migrations',
    description: 'Bindery only. In the order of submission.',
    permission: 'migration.list',
    query: contract.MigrationListQuery,
    answer: { schema: contract.MigrationListResponse, description: 'A page of migrations.' },
    handle: ({ query }, context) => listMigrations(context, query),
  }),
  get(RUN, {
    summary: 'Read the progress of a migration',
    permission: 'migration.read',
    answer: {
      schema: contract.MigrationResponse,
      description: 'Its state, counts, rate, and estimated remaining time.',
    },
    handle: ({ params }, context) => getMigration(context, params.migrationLocator),
  }),
  patch(`${RUN}/pause`, {
    summary: 'Pause a migration',
    description: 'The response comes when the current account has been processed.',
    permission: 'migration.write',
    answer: { description: 'The migration is paused.' },
    handle: ({ params }, context) => pauseMigration(context, params.migrationLocator),
  }),
  patch(`${RUN}/resume`, {
    summary: 'Resume a paused migration',
    permission: 'migration.write',
    answer: { description: 'The migration is resumed.' },
    handle: ({ params }, context) => resumeMigration(context, params.migrationLocator),
  }),
  patch(`${RUN}/recover`, {
    summary: 'Retry accounts that a system error stopped',
    description: 'To correct accounts that failed because of their data, use PATCH of the migration.',
    permission: 'migration.write',
    answer: { description: 'The migration is resumed.' },
    handle: ({ params }, context) => recoverMigration(context, params.migrationLocator),
  }),
  patch(RUN, {
    summary: 'Correct items of a failed account, and process it again',
    description:
      'Each item completely replaces the failed item with its original id. Failed items that are not sent are tried again unchanged. Migrated items cannot be changed (409).',
    permission: 'migration.write',
    body: { schema: PatchAccountMigrationRequest, required: true, largestBytes: LARGEST_BODY },
    answer: {
      schema: contract.MigrationFailuresResponse,
      description: 'Failures that are known immediately. Empty: the account is queued.',
    },
    handle: ({ params, body }, context) => patchAccount(context, params.migrationLocator, body),
  }),
  get(`${RUN}/accounts/list`, {
    summary: 'List accounts of a migration, in the order in which they were sent',
    permission: ['migration.read', 'migration.list'],
    query: contract.MigrationPageQuery,
    answer: { schema: contract.AccountMigrationListResponse, description: 'A page of accounts.' },
    handle: ({ params, query }, context) => listAccounts(context, params.migrationLocator, query),
  }),
  get(`${RUN}/failures/list`, {
    summary: 'List failed items with the reasons, by original ids',
    permission: ['migration.read', 'migration.list'],
    query: contract.MigrationPageQuery,
    answer: {
      schema: contract.MigrationFailuresListResponse,
      description: 'A page of the accounts with failures.',
    },
    handle: ({ params, query }, context) => listFailures(context, params.migrationLocator, query),
  }),
  get(`${RUN}/mappings/list`, {
    summary: 'List the records of all original ids, by account',
    permission: ['migration.read', 'migration.list'],
    query: contract.MappingPageQuery,
    answer: {
      schema: contract.AccountMigrationIdMappingsListResponse,
      description: 'A page of the accounts with migrated items.',
    },
    handle: ({ params, query }, context) => listMappings(context, params.migrationLocator, query),
  }),
  get(`${RUN}/accounts/{accountLocator}/mappings`, {
    summary: 'List the records of the original ids of an account',
    permission: 'migration.read',
    query: contract.MappingQuery,
    answer: {
      schema: contract.AccountMigrationIdMappingsResponse,
      description: 'Trees in the structure of the policies.',
    },
    handle: ({ params, query }, context) =>
      getMappings(context, params.migrationLocator, params.accountLocator, query.by),
  }),
  get(`${RUN}/accounts/{accountLocator}`, {
    summary: 'Read the progress of an account of a migration',
    permission: 'migration.read',
    answer: { schema: contract.AccountMigrationResponse, description: 'Its state and counts of its items.' },
    handle: ({ params }, context) => getAccount(context, params.migrationLocator, params.accountLocator),
  }),
]
