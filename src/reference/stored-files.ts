// Files of resources in R2. An upload is stored while it arrives, in the parts of a multipart upload, and is read back in ranges.
import { sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import { now } from '../kernel/time.ts'
import { contentsHash, type Upload } from '../platform/http/body/upload.ts'
import { fileKey, homeDatabase, type Tenant, type TenantPlace, tenantFiles } from '../platform/tenancy.ts'
import { MemoryUse, type RangedFile } from './data-tables/csv-source.ts'
import type { Resource } from './resource.ts'

/** R2 requires parts of equal size, at least 5 MiB. The last one may be shorter. */
const PART_BYTES = 5 * 1_048_576
const SHORT_BYTES = 262_144

/** Returns the key of a revision's file in R2. */
export const revisionKey = (tenant: Tenant, revision: Uuid): string => fileKey(tenant, 'resources', revision)

type StoredFile = { readonly sizeBytes: number; readonly hash: string }

/**
 * An upload that takes longer checks that the tenant is still served before it stores the file. The files of a deleted tenant are
 * deleted half a minute after it at the earliest (tenants/wipe.ts), and nothing would delete one that comes later.
 */
const SLOW_MS = 10_000

/** Throws the errors of `shardDatabase` if the tenant was deleted, recreated or suspended. One round trip. */
const requireTenantKept = async (place: TenantPlace): Promise<void> => {
  const home = homeDatabase(place)
  await home.batch([home.build.all(sql`select 1`)])
}

/** Stores the upload under the R2 key. A failed upload leaves no file. */
export async function storeStream(
  place: TenantPlace,
  key: string,
  { stream, mediaType = 'application/octet-stream' }: Pick<Upload, 'stream' | 'mediaType'>,
): Promise<StoredFile> {
  const { env, tenant, calls } = place
  const begun = now()
  const bucket = tenantFiles(env, tenant)
  const options = { httpMetadata: { contentType: mediaType } }
  const memory = new MemoryUse()
  const hash = contentsHash()
  let part = new Uint8Array(0)
  let filled = 0
  let sizeBytes = 0
  let sending: R2MultipartUpload | undefined
  const parts: R2UploadedPart[] = []
  const send = async (bytes: Uint8Array): Promise<void> => {
    calls.r2 += sending ? 1 : 2
    sending ??= await bucket.createMultipartUpload(key, options)
    parts.push(await sending.uploadPart(parts.length + 1, bytes))
  }
  try {
    for await (const piece of stream) {
      memory.hold(piece.length)
      hash.update(piece)
      sizeBytes += piece.length
      for (let at = 0; at < piece.length; ) {
        if (filled === part.length) part = growBuffer(part, memory)
        const taken = piece.subarray(at, at + part.length - filled)
        part.set(taken, filled)
        filled += taken.length
        at += taken.length
        if (filled < PART_BYTES) continue
        await send(part)
        filled = 0
      }
      memory.release(piece.length)
    }
    if (now() - begun > SLOW_MS) await requireTenantKept(place)
    calls.r2 += 1
    if (!sending) await bucket.put(key, part.subarray(0, filled), options)
    else {
      if (filled > 0) await send(part.subarray(0, filled))
      await (sending as R2MultipartUpload).complete(parts)
    }
    return { sizeBytes, hash: hash.digest('hex') }
  } catch (problem) {
    await (sending as R2MultipartUpload | undefined)?.abort().catch(() => {})
    throw problem
  }
}

/** Grows the buffer from a small one to a whole part, because most tables are short. */
function growBuffer(part: Uint8Array<ArrayBuffer>, held: MemoryUse): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(part.length === 0 ? SHORT_BYTES : PART_BYTES)
  held.hold(larger.length)
  larger.set(part)
  held.release(part.length)
  return larger
}

/** Deletes the file of a revision, if it is stored. One call of R2. */
export async function deleteFile({ env, tenant, calls }: TenantPlace, revision: Uuid): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).delete(revisionKey(tenant, revision))
}

/** Opens the file of a resource. A missing file is a fault: throws an Error. One call of R2. */
export async function revisionFile(
  { tenant, env, calls }: TenantPlace,
  { name, revision }: Pick<Resource, 'name' | 'revision'>,
): Promise<R2ObjectBody> {
  calls.r2 += 1
  const object = await tenantFiles(env, tenant).get(revisionKey(tenant, revision))
  if (!object) throw new Error(`The file of resource ${name} is missing: revision ${revision}.`)
  return object
}

/** Returns a file that is read in ranges. Each read is one call of R2, and throws an Error once the file is deleted. */
export function storedFile(
  { env, tenant, calls }: TenantPlace,
  revision: Uuid,
  sizeBytes: number,
): RangedFile {
  return {
    sizeBytes,
    async read(offset, length) {
      if (length === 0) return new Uint8Array(0)
      calls.r2 += 1
      const range = { offset, length }
      const object = await tenantFiles(env, tenant).get(revisionKey(tenant, revision), { range })
      if (!object) throw new Error(`The file of revision ${revision} is no longer stored.`)
      return new Uint8Array(await object.arrayBuffer())
    },
  }
}
