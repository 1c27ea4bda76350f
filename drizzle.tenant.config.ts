import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  casing: 'snake_case',
  schema: [
    './src/platform/tables.ts',
    './src/{accounts,audit,auxdata,billing,configuration,documents,events,integrations,lapses,media,migration,plugins,policies,policyholders,quick-quotes,resources}/tables.ts',
    './src/resources/{secrets,bootstrap}/tables.ts',
    './src/events/schedules/tables.ts',
    './src/billing/disbursements/tables.ts',
  ],
  out: './migrations/tenant',
})
