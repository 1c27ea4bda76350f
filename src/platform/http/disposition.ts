// Content-Disposition (RFC 6266): the name under which a client saves a file.

/** What a quoted name cannot hold, or clients read differently. */
const UNQUOTABLE = /[^\x20-\x7e]|["\\%]/gu

/** `encodeURIComponent` leaves these, and RFC 8187 does not allow them: strict clients refuse the whole header. */
const UNENCODED = /['()*]/g

/** Any name goes. Clients that know no encoded names, such as `curl -OJ`, get one in ASCII. */
export function disposition(kind: 'attachment' | 'inline', fileName: string): string {
  const quoted = `${kind}; filename="${fileName.replace(UNQUOTABLE, '_')}"`
  if (fileName.search(UNQUOTABLE) === -1) return quoted
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    UNENCODED,
    letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${quoted}; filename*=UTF-8''${encoded}`
}
