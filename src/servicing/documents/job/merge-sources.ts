// Makes the file of a consolidated document of the files of its sources.

import { ConversionError } from '../../../../packages/pdf/page.ts'
import { loadMerger } from '../../../bundles/load.ts'
import type { Uuid } from '../../../kernel/locators.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { filePlace } from '../../../platform/http/body/large-files.ts'
import { fileKey, tenantFiles } from '../../../platform/tenancy.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import { documentPath, type PolicyDocument } from '../../../policy/records/document.ts'
import { LARGEST_UPLOAD_BYTES } from '../../../transactions/documents/limits.ts'
import type { Made } from '../../../transactions/documents/made.ts'
import type { Product } from '../make.ts'

/** Bytes of all sources together: they are in memory at once. */
const LARGEST_SOURCES_BYTES = LARGEST_UPLOAD_BYTES

/** A source as it stands now: recorded, or made in the same round. */
type Source = { readonly name: string; readonly locator: Uuid } & (
  | { readonly state: 'ready' | 'waiting' }
  | { readonly state: 'failed'; readonly why: string }
)

/**
 * What becomes of the document, by what `made` says of documents of this round and the policy of the others. A source
 * that failed makes it fail; one that its template wanted none of is left out, and with none left there is no
 * document. Undefined while a source waits to be made. Throws where a file cannot be read now, to be tried again.
 */
export async function mergeSources(
  document: PolicyDocument,
  aggregate: PolicyAggregate,
  made: readonly Made[],
  context: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
): Promise<Product | undefined> {
  const sources = document.sources!.flatMap(locator => sourceOf(locator, aggregate, made) ?? [])
  if (sources.some(one => one.state === 'waiting')) return undefined
  for (const one of sources)
    if (one.state === 'failed')
      return {
        outcome: 'dataError',
        failure: `'${one.name}' is to be a part of it, and could not be made: ${one.why}`,
      }
  if (sources.length === 0) return { outcome: 'none' }
  return await merged(document, sources, context)
}

function sourceOf(locator: Uuid, { documents }: PolicyAggregate, made: readonly Made[]): Source | undefined {
  const document = documents.get(locator)
  const outcome = made.find(one => one.locator === locator)
  if (!document || outcome?.outcome === 'none') return undefined
  const own = { locator, name: outcome?.outcome === 'ready' ? outcome.fileName : document.fileName }
  const state = outcome?.outcome ?? document.state
  if (state === 'ready') return { ...own, state }
  if (state === 'draft') return { ...own, state: 'waiting' }
  const why = (outcome && 'failure' in outcome ? outcome.failure : document.failure) ?? state
  return { ...own, state: 'failed', why }
}

async function merged(
  { displayName, createdAt }: PolicyDocument,
  sources: readonly Source[],
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
): Promise<Product> {
  const place = filePlace()
  try {
    let size = 0
    const files: { name: string; bytes: Uint8Array }[] = []
    for (const { locator, name } of sources) {
      calls.r2 += 1
      const file = await tenantFiles(env, tenant).get(fileKey(tenant, ...documentPath(locator)))
      if (!file) throw new Error(`The file of document ${locator} is not there.`)
      size += file.size
      if (size > LARGEST_SOURCES_BYTES) {
        await file.body.cancel()
        return {
          outcome: 'conversionError',
          failure: `With '${name}' its parts are larger than ${LARGEST_SOURCES_BYTES} bytes, the most that can be merged.`,
        }
      }
      place.reach(size)
      files.push({ name, bytes: new Uint8Array(await file.arrayBuffer()) })
    }
    const { mergePdfs } = await loadMerger()
    return { outcome: 'ready', type: 'pdf', bytes: await mergePdfs(files, displayName, createdAt) }
  } catch (problem) {
    if (problem instanceof Error && problem.name === ConversionError.NAME)
      return { outcome: 'conversionError', failure: problem.message }
    throw problem
  } finally {
    place.leave()
  }
}
