import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  casing: 'snake_case',
  schema: './src/platform/tenancy/control-tables.ts',
  out: './migrations/control',
})
