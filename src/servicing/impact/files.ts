// Files of impacts in R2: the rows of each portion. Their archives are with those of versions (product/cache.ts).
import type { Uuid } from '../../kernel/locators.ts'
import { concatBytes } from '../../platform/http/body/bytes.ts'
import { fileKey, type Tenant, type TenantPlace, tenantFiles } from '../../platform/tenancy.ts'
import type { Impact } from './store.ts'

const folder = (tenant: Tenant, impact: Uuid): string => fileKey(tenant, 'impacts', impact, '')

/** A repeated portion writes its rows again under the same name. */
const rowsKey = (tenant: Tenant, impact: Uuid, portion: number): string =>
  fileKey(tenant, 'impacts', impact, `rows-${String(portion).padStart(6, '0')}.csv`)

/** The rows of 64 portions, beginning with `portion`. */
const joinedKey = (tenant: Tenant, impact: Uuid, portion: number): string =>
  fileKey(tenant, 'impacts', impact, `joined-${String(portion).padStart(6, '0')}.csv`)

const CSV: R2PutOptions = { httpMetadata: { contentType: 'text/csv; charset=utf-8' } }

/** Stores the rows of a portion, as CSV without a head. Takes one R2 call. */
export async function putRows(
  { env, tenant, calls }: TenantPlace,
  impact: Uuid,
  portion: number,
  rows: string,
): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).put(rowsKey(tenant, impact, portion), rows, CSV)
}

/** The number of portions whose rows are joined in one file: about 3,200 policies, and a megabyte. */
const JOINED = 64

type Rows = Pick<Impact, 'locator' | 'portions' | 'totals'>

/** Rows with an abandoned portion are not joined: an object that does not know of it could still write a file with its rows. */
const isWhole = ({ totals }: Rows, from: number): boolean =>
  !totals.abandoned?.some(portion => portion >= from && portion < from + JOINED)

/** Yields the files of the portions from `from` up to `to` in order. One R2 call for each. */
async function* filesOfPortions(
  { env, tenant, calls }: TenantPlace,
  { locator, totals }: Rows,
  from: number,
  to: number,
): AsyncGenerator<R2ObjectBody> {
  for (let portion = from; portion < to; portion += 1) {
    if (totals.abandoned?.includes(portion)) continue
    calls.r2 += 1
    const file = await tenantFiles(env, tenant).get(rowsKey(tenant, locator, portion))
    if (!file) throw new Error(`The rows ${portion} of impact ${locator} are gone.`)
    yield file
  }
}

/** Yields files with all rows in order. Rows of an earlier release are not joined, so that their portions are read. */
async function* filesOf(place: TenantPlace, impact: Rows): AsyncGenerator<R2ObjectBody> {
  const { env, tenant, calls } = place
  for (let from = 0; from < impact.portions; from += JOINED) {
    const isJoined = from + JOINED <= impact.portions && isWhole(impact, from)
    if (isJoined) calls.r2 += 1
    const file = isJoined ? await tenantFiles(env, tenant).get(joinedKey(tenant, impact.locator, from)) : null
    if (file) yield file
    else yield* filesOfPortions(place, impact, from, Math.min(from + JOINED, impact.portions))
  }
}

/**
 * Joins the rows of the last 64 portions in one file if `impact.portions` completes them. Call it before the last of them is
 * committed, so that it is repeated with that portion. Takes 65 R2 calls, or none.
 */
export async function joinRows(place: TenantPlace, impact: Rows): Promise<void> {
  const { env, tenant, calls } = place
  const from = impact.portions - JOINED
  if (from < 0 || from % JOINED !== 0 || !isWhole(impact, from)) return
  const parts: Uint8Array[] = []
  for await (const file of filesOfPortions(place, impact, from, impact.portions))
    parts.push(new Uint8Array(await file.arrayBuffer()))
  calls.r2 += 1
  await tenantFiles(env, tenant).put(joinedKey(tenant, impact.locator, from), concatBytes(parts), CSV)
}

/**
 * Streams the head and then the rows of all portions. Takes an R2 call for each 64 portions and one for each further portion. Where
 * portions were abandoned, or an earlier release wrote them, it takes one for each of the 64.
 */
export function rowsStream(place: TenantPlace, impact: Rows, head: string): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const send = async (): Promise<void> => {
    const writer = writable.getWriter()
    await writer.write(new TextEncoder().encode(head))
    writer.releaseLock()
    for await (const file of filesOf(place, impact)) await file.body.pipeTo(writable, { preventClose: true })
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
