import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  casing: 'snake_case',
  schema: [
    './src/platform/tables.ts',
    './src/{accounts,billing,configuration,documents,events,lapses,media,policies,policyholders}/tables.ts',
  ],
  out: './migrations/tenant',
})
