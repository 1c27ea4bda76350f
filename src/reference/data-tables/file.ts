// Files of tables in R2: an upload goes there as it comes, in parts of a multipart upload, and is read again by ranges.
import type { Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { contentsHash, type Upload } from '../../platform/http/body/upload.ts'
import { fileKey, type Tenant, tenantFiles } from '../../platform/tenancy.ts'
import type { Held, RangedFile } from './csv-source.ts'

/** R2 takes parts of one size, 5 MiB at least; the last may be shorter. */
const PART_BYTES = 5 * 1_048_576
const SHORT_BYTES = 262_144

export const revisionKey = (tenant: Tenant, revision: Uuid): string => fileKey(tenant, 'resources', revision)

export type StoredFile = { readonly sizeBytes: number; readonly hash: string }

type FileContext = Pick<RequestContext, 'env' | 'tenant' | 'calls'>

/** Puts the upload under the revision's name. Nothing stays when the upload fails. */
export const storeUpload = (
  context: FileContext,
  revision: Uuid,
  upload: Upload,
  held: Held,
): Promise<StoredFile> => storeStream(context, revisionKey(context.tenant, revision), upload, held)

/** As `storeUpload`, under a key of R2. */
export async function storeStream(
  { env, tenant, calls }: FileContext,
  key: string,
  upload: Pick<Upload, 'stream' | 'mediaType'>,
  held: Held,
): Promise<StoredFile> {
  const bucket = tenantFiles(env, tenant)
  const options = { httpMetadata: { contentType: upload.mediaType ?? 'application/octet-stream' } }
  const hash = contentsHash()
  let part = new Uint8Array(0)
  let filled = 0
  let sizeBytes = 0
  let sending: R2MultipartUpload | undefined
  const sent: R2UploadedPart[] = []
  const send = async (bytes: Uint8Array): Promise<void> => {
    calls.r2 += sending ? 1 : 2
    sending ??= await bucket.createMultipartUpload(key, options)
    sent.push(await sending.uploadPart(sent.length + 1, bytes))
  }
  try {
    for await (const piece of upload.stream) {
      held.hold(piece.length)
      hash.update(piece)
      sizeBytes += piece.length
      for (let at = 0; at < piece.length; ) {
        if (filled === part.length) part = grown(part, held)
        const taken = piece.subarray(at, at + part.length - filled)
        part.set(taken, filled)
        filled += taken.length
        at += taken.length
        if (filled < PART_BYTES) continue
        await send(part)
        filled = 0
      }
      held.release(piece.length)
    }
    calls.r2 += 1
    if (!sending) await bucket.put(key, part.subarray(0, filled), options)
    else {
      if (filled > 0) await send(part.subarray(0, filled))
      await (sending as R2MultipartUpload).complete(sent)
    }
    return { sizeBytes, hash: hash.digest('hex') }
  } catch (problem) {
    await (sending as R2MultipartUpload | undefined)?.abort().catch(() => {})
    throw problem
  } finally {
    held.release(part.length)
  }
}

/** A short table's memory first, then that of a whole part: most tables are short. */
function grown(part: Uint8Array<ArrayBuffer>, held: Held): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(part.length === 0 ? SHORT_BYTES : PART_BYTES)
  held.hold(larger.length)
  larger.set(part)
  held.release(part.length)
  return larger
}

export async function deleteFile({ env, tenant, calls }: FileContext, revision: Uuid): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).delete(revisionKey(tenant, revision))
}

/** The revision's file, of which parts can be read. */
export function storedFile(
  { env, tenant, calls }: FileContext,
  revision: Uuid,
  sizeBytes: number,
): RangedFile {
  return {
    sizeBytes,
    async read(offset, length) {
      if (length === 0) return new Uint8Array(0)
      calls.r2 += 1
      const object = await tenantFiles(env, tenant).get(revisionKey(tenant, revision), {
        range: { offset, length },
      })
      if (!object) throw new Error(`The file of revision ${revision} is not kept any more.`)
      return new Uint8Array(await object.arrayBuffer())
    },
  }
}
