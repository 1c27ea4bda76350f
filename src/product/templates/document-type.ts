// The type of a document is read from its bytes, no matter what its name or the request says.
import type { DocumentDefinition } from '../configuration.ts'

/** A PDF may have up to this many bytes before its mark. */
const PDF_MARK_WITHIN = 1_024

/** Fragments count too: a document may begin with the first element of its text. */
const HTML_TAG =
  /<(?:!doctype\s+html|html|head|body|base|link|meta|script|style|title|address|article|aside|blockquote|center|details|div|dl|fieldset|figure|footer|form|h[1-6]|header|hr|main|nav|ol|p|pre|section|table|ul|a|abbr|b|big|br|code|em|font|i|img|label|mark|s|small|span|strong|sub|sup|u)\b/iy
const XML_DECLARATION = /<\?xml[^>]*\?>/iy
const BLANKS = /\s*/y

/**
 * Blanks, an XML declaration and comments may precede the first tag. They are skipped one by one: a pattern for any number of
 * comments would try every way to divide the text into them, in time that doubles with each.
 */
function beginsAsHtml(text: string): boolean {
  let at = 0
  const pass = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  pass(BLANKS)
  if (pass(XML_DECLARATION)) pass(BLANKS)
  while (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4)
    if (end < 0) return false
    at = end + 3
    pass(BLANKS)
  }
  return pass(HTML_TAG)
}

/** Returns undefined for anything but PDF and HTML in UTF-8. */
export function typeOfBytes(bytes: Uint8Array): DocumentDefinition['type'] | undefined {
  if (Buffer.from(bytes.subarray(0, PDF_MARK_WITHIN)).includes('%PDF-')) return 'pdf'
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
  return beginsAsHtml(text.slice(0, 65_536)) ? 'html' : undefined
}
