// Files in which a restore notes the time that it undoes (tenants/restore.ts). They contain events with texts from plugins, so
// they are removed when the restore is finished, and by an erasure, whose timer runs only while no restore is under way.
import type { Calls } from '../calls.ts'
import { fileKey, type Tenant, tenantFiles } from '../tenancy.ts'

const FOLDER = 'restores'

/** `restore` is 1 for the tenant's first restore. */
export const noteKey = (tenant: Tenant, restore: number, shard: number, file: number): string =>
  fileKey(tenant, FOLDER, String(restore), String(shard), `${file}.json`)

/** Removes the notes of all restores of the tenant. Can be repeated. */
export async function removeNotes(env: Env, tenant: Tenant, calls: Calls): Promise<void> {
  const bucket = tenantFiles(env, tenant)
  for (;;) {
    calls.r2 += 1
    const { objects, truncated } = await bucket.list({ prefix: fileKey(tenant, FOLDER, '') })
    if (objects.length > 0) {
      calls.r2 += 1
      await bucket.delete(objects.map(({ key }) => key))
    }
    if (!truncated) return
  }
}
