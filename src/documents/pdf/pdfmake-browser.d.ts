// The build of the library that needs no Node: its own file system for fonts, its own streams and compression.
declare module 'pdfmake/build/pdfmake.min.js' {
  type Stream = { page: { height: number }; end(): void }
  const pdfMake: {
    readonly virtualfs: { writeFileSync(name: string, content: Uint8Array): void }
    setFonts(fonts: Record<string, Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>>): void
    /** Which addresses may be fetched. */
    setUrlAccessPolicy(allowed: (url: string) => boolean): void
    createPdf(definition: object): { getStream(): Promise<Stream>; getBuffer(): Promise<Uint8Array> }
  }
  export default pdfMake
}
