import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { DocumentType } from '../contract/documents.ts'
import type { DocumentState, DocumentSubject, PolicyDocument } from '../records/document.ts'

/** Documents of policies; the files are in R2 under their locators. */
export const documents = sqliteTable(
  'document',
  {
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
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
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  table => [index('document_policy').on(table.policyLocator)],
)

/**
 * Policies with documents that wait to be made; written in the batch that has them made. `dueAt` is when the
 * dispatcher hints of it again, `leaseUntil` until when somebody makes them; both in real time.
 */
export const documentJobs = sqliteTable(
  'document_job',
  {
    policyLocator: integer().primaryKey(),
    /** Tries since a document was last made; one that a crash cut off counts. */
    attempts: integer().notNull(),
    dueAt: integer().notNull(),
    leaseUntil: integer().notNull(),
  },
  table => [index('document_job_due').on(table.dueAt)],
)
