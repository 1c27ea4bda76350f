// Content-Disposition (RFC 6266): the name under which a client saves a file.

/** Characters that a quoted name cannot contain, or that clients interpret differently. */
const UNQUOTABLE = /[^\x20-\x7e]|["\\%]/gu

/** Characters that `encodeURIComponent` does not encode and RFC 8187 does not allow: strict clients reject the whole header. */
const UNENCODED = /['()*]/g

/** Formats the header for any file name. Clients that do not support encoded names, such as `curl -OJ`, get a name in ASCII. */
export function disposition(kind: 'attachment' | 'inline', fileName: string): string {
  const quoted = `${kind}; filename="${fileName.replace(UNQUOTABLE, '_')}"`
  if (fileName.search(UNQUOTABLE) === -1) return quoted
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    UNENCODED,
    letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${quoted}; filename*=UTF-8''${encoded}`
}
