// Makes the file of a document that consolidates others (transactions/documents/consolidation.ts).
import { withoutFonts } from '../../../packages/pdf/fonts.ts'
import { ConversionError, pageOf } from '../../../packages/pdf/page.ts'
import { loadMerger } from '../../bundles/load.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { filePlace } from '../../platform/http/body/bytes.ts'
import { fileKey, tenantFiles } from '../../platform/tenancy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { documentPath, type PolicyDocument } from '../../policy/records/transactions.ts'
import type { DocumentOutcome } from '../../transactions/documents/kinds.ts'
import { LARGEST_UPLOAD_BYTES } from '../../transactions/documents/upload.ts'
import type { MakingContext, Product } from './make.ts'

/** `inLane` runs one document after the other, since each blocks its thread. */
type Merging = Pick<MakingContext, 'loaded' | 'renderer'> & {
  readonly inLane: <T>(work: () => Promise<T>) => Promise<T>
  readonly context: RequestContext
}

/** Limit on the bytes of all sources together, because they are in memory at the same time. */
const LARGEST_SOURCES_BYTES = LARGEST_UPLOAD_BYTES

/** Each HTML source takes as long as making a document. */
const MOST_HTML_SOURCES = 20

/** A source that is recorded, or was made in the same round. */
type Source = Pick<PolicyDocument, 'type' | 'pageLayout'> & {
  readonly name: string
  readonly locator: Uuid
  readonly state: 'ready' | 'waiting' | 'failed'
  readonly failure?: string
}

/**
 * Merges the sources. Outcomes of this round come from `made`, the others from the policy. A failed source fails the document; a
 * source whose template wanted no document is left out; without any source there is no document. Returns undefined while a source
 * waits. Throws if a file cannot be read now.
 */
export async function mergeSources(
  document: PolicyDocument,
  made: readonly DocumentOutcome[],
  merging: Merging,
): Promise<Product | undefined> {
  const sources = document.sources!.flatMap(
    locator => sourceOf(locator, merging.loaded.aggregate, made) ?? [],
  )
  if (sources.some(({ state }) => state === 'waiting')) return undefined
  const failed = sources.find(({ state }) => state === 'failed')
  if (failed) {
    const failure = `'${failed.name}' is one of its parts and could not be created: ${failed.failure}`
    return { outcome: 'dataError', failure }
  }
  return sources.length === 0 ? { outcome: 'none' } : await mergeFiles(document, sources, merging)
}

function sourceOf(
  locator: Uuid,
  { documents }: PolicyAggregate,
  made: readonly DocumentOutcome[],
): Source | undefined {
  const document = documents.get(locator)
  const outcome = made.find(one => one.locator === locator)
  if (!document || outcome?.outcome === 'none') return undefined
  const { pageLayout } = document
  const type = outcome?.outcome === 'ready' ? outcome.type : document.type
  const name = outcome?.outcome === 'ready' ? outcome.fileName : document.fileName
  const state = outcome?.outcome ?? document.state
  if (state === 'ready') return { locator, name, type, pageLayout, state }
  if (state === 'draft') return { locator, name, type, pageLayout, state: 'waiting' }
  const failure = (outcome && 'failure' in outcome ? outcome.failure : document.failure) ?? state
  return { locator, name, type, pageLayout, state: 'failed', failure }
}

/** Renders a stored page as a PDF. Header and footer appear once, at their place in the page. */
async function pdfOf(
  { name, bytes, pageLayout }: Pick<Source, 'name' | 'pageLayout'> & { readonly bytes: Uint8Array },
  madeAt: Instant,
  { renderer, inLane }: Merging,
): Promise<Uint8Array> {
  const { html, fonts } = withoutFonts(new TextDecoder().decode(bytes))
  try {
    return (await inLane(() => renderer.render(html, pageOf(pageLayout), fonts, madeAt))).bytes
  } catch (problem) {
    if (ConversionError.is(problem))
      throw new ConversionError(`'${name}' cannot be converted to PDF: ${problem.message}`)
    throw problem
  }
}

async function mergeFiles(
  { displayName, createdAt }: PolicyDocument,
  sources: readonly Source[],
  merging: Merging,
): Promise<Product> {
  const { env, tenant, calls } = merging.context
  const tooMany = sources.filter(({ type }) => type === 'html')[MOST_HTML_SOURCES]
  if (tooMany)
    return {
      outcome: 'conversionError',
      failure: `With '${tooMany.name}', more than ${MOST_HTML_SOURCES} of its parts are HTML, the most that can be converted to PDF.`,
    }
  const place = filePlace()
  try {
    let size = 0
    const files: { name: string; bytes: Uint8Array }[] = []
    for (const { locator, name, type, pageLayout } of sources) {
      calls.r2 += 1
      const file = await tenantFiles(env, tenant).get(fileKey(tenant, ...documentPath(locator)))
      if (!file) throw new Error(`The file of document ${locator} does not exist.`)
      size += file.size
      if (size > LARGEST_SOURCES_BYTES) {
        await file.body.cancel()
        return {
          outcome: 'conversionError',
          failure: `With '${name}', its parts are larger than ${LARGEST_SOURCES_BYTES} bytes, the most that can be merged.`,
        }
      }
      place.reach(size)
      const bytes = new Uint8Array(await file.arrayBuffer())
      files.push({
        name,
        bytes: type === 'html' ? await pdfOf({ name, bytes, pageLayout }, createdAt, merging) : bytes,
      })
    }
    const { mergePdfs } = await loadMerger()
    return { outcome: 'ready', type: 'pdf', bytes: await mergePdfs(files, displayName, createdAt) }
  } catch (problem) {
    if (ConversionError.is(problem)) return { outcome: 'conversionError', failure: problem.message }
    throw problem
  } finally {
    place.leave()
  }
}
