// Several PDFs as one. This module and the library that it needs are built into a file of their own, merger.bundle.mjs,
// which the service loads when it first has PDFs to merge (scripts/bundles.ts).
import { ParseSpeeds, PDFDocument } from '@cantoo/pdf-lib'
import { countedFor, countPages, MERGE_LIMITS, MergeBudget } from './merge-limits.ts'
import { shareStreams } from './merge-shared.ts'
import { ConversionError } from './page.ts'

export { ConversionError }

/** A PDF, with the name by which messages speak of it. */
export type NamedPdf = { readonly name: string; readonly bytes: Uint8Array }

/**
 * One PDF with all pages of the sources, in their order. `madeAt` is the time that it says it was made. Throws a
 * ConversionError that names the source which is no PDF that can be read, is encrypted, or passes a limit.
 */
export async function mergePdfs(
  sources: readonly NamedPdf[],
  title: string,
  madeAt: number,
): Promise<Uint8Array> {
  const merged = await PDFDocument.create({ updateMetadata: false })
  merged.setTitle(title)
  merged.setCreationDate(new Date(madeAt))
  for (const source of sources) {
    for (const page of await pagesOf(source, merged)) merged.addPage(page)
    if (merged.getPageCount() > MERGE_LIMITS.pages)
      throw new ConversionError(
        `With '${source.name}' the document has more than ${MERGE_LIMITS.pages} pages.`,
      )
  }
  // Pages that were copied wait to be written until then.
  await merged.flush()
  shareStreams(merged.context)
  return await merged.save()
}

async function pagesOf({ name, bytes }: NamedPdf, merged: PDFDocument) {
  const budget = new MergeBudget()
  try {
    const source = await countedFor(budget, () =>
      PDFDocument.load(bytes, { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest }),
    )
    budget.assertWithin(name)
    countPages(source.catalog.Pages(), budget)
    return await merged.copyPages(source, source.getPageIndices())
  } catch (problem) {
    budget.assertWithin(name)
    // What the library says of a broken file is about its own code.
    const isEncrypted = problem instanceof Error && /encrypted/i.test(problem.message)
    throw new ConversionError(
      `'${name}' cannot be merged: it is ${isEncrypted ? 'encrypted' : 'no PDF that can be read'}.`,
    )
  }
}
