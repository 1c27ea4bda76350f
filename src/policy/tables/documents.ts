import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { DocumentType } from '../contract/documents.ts'
import type { DocumentState, DocumentSubject, PolicyDocument } from '../records/transactions.ts'
import { foundPolicyTable, OPEN_WORK, times } from './policies.ts'

/** The files are in R2, under the locators of the documents. */
export const documents = foundPolicyTable(
  'document',
  {
    subject: text().$type<DocumentSubject>().notNull(),
    subjectLocator: text().notNull(),
    modificationLocator: text(),
    displayName: text().notNull(),
    fileName: text().notNull(),
    type: text().$type<DocumentType>().notNull(),
    templateName: text(),
    pageLayout: text({ mode: 'json' }).$type<PolicyDocument['pageLayout']>(),
    madeAt: text().$type<PolicyDocument['madeAt']>(),
    sources: text({ mode: 'json' }).$type<PolicyDocument['sources']>(),
    deletesSources: integer({ mode: 'boolean' }),
    documentType: text(),
    state: text().$type<DocumentState>().notNull(),
    failure: text(),
    ...times,
  },
  { index: 'document_failed', by: 'updatedAt', where: OPEN_WORK.failedDocument },
)

/**
 * Policies that have documents to be made. Rows are written in the batch that requests the documents. All times are real time.
 * `dueAt`: the dispatcher's next hint. `leaseUntil`: end of the current lease. `retryAt`: earliest retry after a failure.
 */
export const documentJobs = sqliteTable(
  'document_job',
  {
    policyLocator: integer().primaryKey(),
    /** Tries since a document was last made, including interrupted ones. */
    attempts: integer().notNull(),
    dueAt: integer().notNull(),
    leaseUntil: integer().notNull(),
    retryAt: integer().notNull().default(0),
  },
  table => [
    index('document_job_due').on(table.dueAt),
    // Counts the documents that are being made. Has no other rows.
    index('document_job_lease').on(table.leaseUntil).where(sql`${table.leaseUntil} > 0`),
  ],
)

/** Uploads. They are in shard 0, because a medium belongs to no policy until one names it. */
export const media = sqliteTable('medium', {
  locator: text().primaryKey(),
  fileName: text().notNull(),
  mimeType: text().notNull(),
  sizeBytes: integer().notNull(),
  createdAt: integer().notNull(),
})

/** The properties that a policy shows of the media that its fields name. */
export const policyMedia = sqliteTable(
  'policy_medium',
  {
    locator: text().notNull(),
    policyLocator: integer().notNull(),
    fileName: text().notNull(),
    mimeType: text().notNull(),
  },
  table => [primaryKey({ columns: [table.policyLocator, table.locator] })],
)
