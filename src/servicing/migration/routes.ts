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
    summary: 'Bring in accounts with their policies, invoices, payments and disbursements',
    description:
      'At most 1,000 accounts and 25 MB, 5,000 items an account; larger books are several migrations, of which four run at a time. The body is read as it comes. What is wrong with an account is found when its turn comes, and told by `…/failures/list`; nothing of an item that fails is written. The header `X-Idempotency-Key` makes it repeatable for 30 days.',
    permission: 'migration.write',
    query: contract.MigrationPostQuery,
    upload: { largestBytes: LARGEST_BODY, json: z.array(AccountMigrationRequest) },
    answer: { schema: contract.MigrationResponse, description: 'The migration, submitted.' },
    handle: ({ query, file }, context) => submitAccounts(context, file, query.validateOnly),
  }),
  post(`${RUNS}/accounts/{accountLocator}`, {
    summary: 'Bring in further policies, invoices, payments and disbursements of an account',
    description:
      'The account is a policyholder that exists, migrated or not. Its items refer to one another, and to invoices that were migrated for it before by their original ids: payments pay these, and installments of further policies add to them.',
    permission: 'migration.write',
    query: contract.MigrationPostQuery,
    upload: { largestBytes: LARGEST_BODY, json: MigrationRequest },
    answer: { schema: contract.MigrationResponse, description: 'The migration, submitted.' },
    handle: ({ params, query, file }, context) =>
      submitItems(context, params.accountLocator, file, query.validateOnly),
  }),
  get(`${RUNS}/list`, {
    summary: 'List migrations',
    description: 'Bindery only. In the order in which they were submitted.',
    permission: 'migration.list',
    query: contract.MigrationListQuery,
    answer: { schema: contract.MigrationListResponse, description: 'A page of migrations.' },
    handle: ({ query }, context) => listMigrations(context, query),
  }),
  get(RUN, {
    summary: 'See how far a migration is',
    permission: 'migration.read',
    answer: {
      schema: contract.MigrationResponse,
      description: 'Its state, counts, rate, and what the rest will take.',
    },
    handle: ({ params }, context) => getMigration(context, params.migrationLocator),
  }),
  patch(`${RUN}/pause`, {
    summary: 'Pause a migration',
    description: 'Answered when the account that is under way is done with.',
    permission: 'migration.write',
    answer: { description: 'It is paused.' },
    handle: ({ params }, context) => pauseMigration(context, params.migrationLocator),
  }),
  patch(`${RUN}/resume`, {
    summary: 'Let a paused migration go on',
    permission: 'migration.write',
    answer: { description: 'It goes on.' },
    handle: ({ params }, context) => resumeMigration(context, params.migrationLocator),
  }),
  patch(`${RUN}/recover`, {
    summary: 'Try accounts again that a fault of the system stopped',
    description: 'Those that failed on their data are corrected with PATCH of the migration.',
    permission: 'migration.write',
    answer: { description: 'It goes on.' },
    handle: ({ params }, context) => recoverMigration(context, params.migrationLocator),
  }),
  patch(RUN, {
    summary: 'Correct items of a failed account, and try it again',
    description:
      'Each item takes the place of the failed one of its original id, whole. Items that are not named are tried again as they are. What was migrated cannot be altered: 409.',
    permission: 'migration.write',
    body: { schema: PatchAccountMigrationRequest, required: true, largestBytes: LARGEST_BODY },
    answer: {
      schema: contract.MigrationFailuresResponse,
      description: 'Failures known at once; none: it is queued.',
    },
    handle: ({ params, body }, context) => patchAccount(context, params.migrationLocator, body),
  }),
  get(`${RUN}/accounts/list`, {
    summary: 'Accounts of a migration, in the order in which they were sent',
    permission: ['migration.read', 'migration.list'],
    query: contract.MigrationPageQuery,
    answer: { schema: contract.AccountMigrationListResponse, description: 'A page of them.' },
    handle: ({ params, query }, context) => listAccounts(context, params.migrationLocator, query),
  }),
  get(`${RUN}/failures/list`, {
    summary: 'What failed, and why, by original ids',
    permission: ['migration.read', 'migration.list'],
    query: contract.MigrationPageQuery,
    answer: {
      schema: contract.MigrationFailuresListResponse,
      description: 'A page of the accounts with failures.',
    },
    handle: ({ params, query }, context) => listFailures(context, params.migrationLocator, query),
  }),
  get(`${RUN}/mappings/list`, {
    summary: 'Which record each original id became, of all accounts',
    permission: ['migration.read', 'migration.list'],
    query: contract.MappingPageQuery,
    answer: {
      schema: contract.AccountMigrationIdMappingsListResponse,
      description: 'A page of the accounts with anything migrated.',
    },
    handle: ({ params, query }, context) => listMappings(context, params.migrationLocator, query),
  }),
  get(`${RUN}/accounts/{accountLocator}/mappings`, {
    summary: 'Which record each original id of an account became',
    permission: 'migration.read',
    query: contract.MappingQuery,
    answer: {
      schema: contract.AccountMigrationIdMappingsResponse,
      description: 'Trees, as policies lie in each other.',
    },
    handle: ({ params, query }, context) =>
      getMappings(context, params.migrationLocator, params.accountLocator, query.by),
  }),
  get(`${RUN}/accounts/{accountLocator}`, {
    summary: 'See how far an account of a migration is',
    permission: 'migration.read',
    answer: { schema: contract.AccountMigrationResponse, description: 'Its state and counts of its items.' },
    handle: ({ params }, context) => getAccount(context, params.migrationLocator, params.accountLocator),
  }),
]
