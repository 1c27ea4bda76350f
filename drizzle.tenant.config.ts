import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  casing: 'snake_case',
  schema: [
    './src/platform/tables.ts',
    './src/{access,billing,extension,policy,policyholders,product,reference,reporting,servicing,tenants,transactions}/**/{tables,tables/*}.ts',
    './src/platform/events/tables.ts',
    './src/{servicing/quick-quotes,tenants/bootstrap}/store.ts',
  ],
  out: './migrations/tenant',
})
