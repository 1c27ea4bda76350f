// Files of impacts in R2: the rows of each portion. Their archives are with those of versions (product/cache.ts).
import type { Uuid } from '../../kernel/locators.ts'
import { fileKey, type Tenant, type TenantPlace, tenantFiles } from '../../platform/tenancy.ts'
import type { Impact } from './store.ts'

const folder = (tenant: Tenant, impact: Uuid): string => fileKey(tenant, 'impacts', impact, '')

/** A repeated portion writes its rows again under the same name. */
const rowsKey = (tenant: Tenant, impact: Uuid, portion: number): string =>
  fileKey(tenant, 'impacts', impact, `rows-${String(portion).padStart(6, '0')}.csv`)

/** Stores the rows of a portion, as CSV without a head. Takes one R2 call. */
export async function putRows(
  { env, tenant, calls }: TenantPlace,
  impact: Uuid,
  portion: number,
  rows: string,
): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).put(rowsKey(tenant, impact, portion), rows, {
    httpMetadata: { contentType: 'text/csv; charset=utf-8' },
  })
}

/** Streams the head and then the rows of all portions. */
export function rowsStream(
  { env, tenant, calls }: TenantPlace,
  { locator, portions, totals }: Pick<Impact, 'locator' | 'portions' | 'totals'>,
  head: string,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const send = async (): Promise<void> => {
    const writer = writable.getWriter()
    await writer.write(new TextEncoder().encode(head))
    writer.releaseLock()
    for (let portion = 0; portion < portions; portion += 1) {
      if (totals.abandoned?.includes(portion)) continue
      calls.r2 += 1
      const file = await tenantFiles(env, tenant).get(rowsKey(tenant, locator, portion))
      if (!file) throw new Error(`The rows ${portion} of impact ${locator} are gone.`)
      await file.body.pipeTo(writable, { preventClose: true })
    }
    await writable.close()
  }
  void send().catch(problem => writable.abort(problem).catch(() => {}))
  return readable
}

/**
 * Deletes the rows of an impact. Its archive stays, like that of an unsuccessful deploy: the archive is named by its contents, and
 * a deploy of the same archive may be about to refer to it.
 */
export async function deleteFiles({ env, tenant, calls }: TenantPlace, impact: Uuid): Promise<void> {
  const bucket = tenantFiles(env, tenant)
  for (;;) {
    calls.r2 += 1
    const { objects, truncated } = await bucket.list({ prefix: folder(tenant, impact) })
    if (objects.length > 0) {
      calls.r2 += 1
      await bucket.delete(objects.map(({ key }) => key))
    }
    if (!truncated) return
  }
}
