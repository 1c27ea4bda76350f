// Files of tenants that are gone. Names of files hold the tenant's generation, and none is ever used again: so
// whatever lies there may be deleted at any time, by any number of runs at once.
import type { Calls } from '../platform/calls.ts'
import { filesPrefix, type TenantScope } from '../platform/tenancy.ts'

/** Lists of at most 1,000 names that one run works off for a tenant. */
const LISTS_A_RUN = 10

/** Deletes files of the former tenant, a bounded number; whether it found any. */
export async function deleteFormerFiles(
  bucket: R2Bucket,
  former: TenantScope,
  calls: Calls,
): Promise<boolean> {
  const prefix = filesPrefix(former)
  for (let lists = 0; lists < LISTS_A_RUN; lists += 1) {
    calls.r2 += 1
    const { objects, truncated } = await bucket.list({ prefix })
    if (objects.length === 0) return lists > 0
    calls.r2 += 1
    await bucket.delete(objects.map(({ key }) => key))
    if (!truncated) return true
  }
  return true
}
