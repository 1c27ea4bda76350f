import { integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const accounts = sqliteTable(
  'account',
  {
    locator: text().primaryKey(),
    username: text().notNull(),
    name: text().notNull(),
    email: text(),
    type: text({
      enum: [
        'account.tenant.admin',
        'account.tenant.employee',
        'account.tenant.read.only.user',
        'account.tenant.claims.only.user',
      ],
    }).notNull(),
    passwordHash: text().notNull(),
    /** `archive`: made from the configuration's test users; a later deploy may change or remove it. */
    source: text({ enum: ['archive', 'interface'] }).notNull(),
    createdAt: integer().notNull(),
  },
  table => [uniqueIndex('account_username').on(table.username)],
)
