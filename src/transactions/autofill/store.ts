// Registered operations as a part of the tenant's row in the control database.
import { and, eq, sql } from 'drizzle-orm'
import type { RegisteredOperation } from '../../platform/autofill-operations.ts'
import { tenants } from '../../platform/control-tables.ts'
import type { Database } from '../../platform/database.ts'
import type { TenantScope } from '../../platform/tenancy.ts'

/** Sets the operation, or removes it for null; nothing comes back where the tenant has been recreated or deleted. */
export const operationQuery = (
  database: Database,
  { locator, generation }: TenantScope,
  name: string,
  operation: RegisteredOperation | null,
) =>
  database.build
    .update(tenants)
    .set({ autofill: sql`json_patch(${tenants.autofill}, ${JSON.stringify({ [name]: operation })})` })
    .where(
      and(eq(tenants.locator, locator), eq(tenants.generation, generation), eq(tenants.status, 'active')),
    )
    .returning({ locator: tenants.locator })
