// What PDFs that were put together have in common, once: images, fonts of the same letters. Each source brings its own.
import { createHash } from 'node:crypto'
import { PDFArray, type PDFContext, PDFDict, type PDFObject, PDFRawStream, PDFRef } from '@cantoo/pdf-lib'

/** Leaves one of the streams that are the same, whoever refers to them. */
export function shareStreams(context: PDFContext): void {
  const first = new Map<string, PDFRef>()
  const same = new Map<PDFRef, PDFRef>()
  for (const [ref, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFRawStream)) continue
    const key = createHash('sha256').update(wordsOf(object.dict)).update(object.contents).digest('hex')
    const known = first.get(key)
    if (known) same.set(ref, known)
    else first.set(key, ref)
  }
  if (same.size === 0) return
  for (const ref of same.keys()) context.delete(ref)
  for (const [, object] of context.enumerateIndirectObjects()) referTo(object, same)
}

/** What the stream says of itself; what it has elsewhere, as how it was packed, as if it had it here. */
const wordsOf = (dict: PDFDict): string =>
  dict
    .entries()
    .map(([key, value]) => {
      const meant = value instanceof PDFRef ? dict.context.lookup(value) : value
      return `${key} ${meant instanceof PDFRawStream ? value : meant}`
    })
    .join('\n')

/** Refers to what is left, in the object and all that it holds itself. */
function referTo(object: PDFObject, same: ReadonlyMap<PDFRef, PDFRef>): void {
  const waiting: PDFObject[] = [object]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next instanceof PDFRawStream) waiting.push(next.dict)
    else if (next instanceof PDFDict)
      for (const [key, value] of next.entries()) {
        const other = value instanceof PDFRef ? same.get(value) : undefined
        if (other) next.set(key, other)
        else waiting.push(value)
      }
    else if (next instanceof PDFArray)
      for (const [index, value] of next.asArray().entries()) {
        const other = value instanceof PDFRef ? same.get(value) : undefined
        if (other) next.set(index, other)
        else waiting.push(value)
      }
  }
}
