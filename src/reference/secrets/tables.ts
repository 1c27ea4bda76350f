import { sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Items of secrets, in the home shard. Only those in force are kept: what was replaced shall be gone. */
export const secrets = sqliteTable('secret', {
  resourceName: text().primaryKey(),
  /** `SecretItems` as JSON, sealed (platform/sealed) for the tenant and the name. */
  items: text().notNull(),
})
