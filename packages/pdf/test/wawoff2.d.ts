declare module 'wawoff2' {
  /** WOFF2 of a TrueType or OpenType file. */
  export function compress(font: Buffer): Promise<Uint8Array>
}
