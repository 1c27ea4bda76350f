// The part of pdfmake that lays out and writes, without the part that reads files and addresses.
declare module 'pdfmake/js/Printer.js' {
  type PdfStream = {
    readonly page: { readonly height: number }
    on(event: 'data', take: (chunk: Uint8Array) => void): void
    on(event: 'end', done: () => void): void
    on(event: 'error', failed: (problem: unknown) => void): void
    end(): void
  }
  class PdfPrinter {
    constructor(
      fonts: Readonly<
        Record<string, Readonly<Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>>>
      >,
      files: { existsSync(name: string): boolean; readFileSync(name: string): Uint8Array | undefined },
      addresses: { resolve(url: string): void; resolved(): Promise<void> },
      isAllowed: (path: string) => boolean,
    )
    createPdfKitDocument(content: object): Promise<PdfStream>
  }
  /** A CommonJS module that was an ES module: its default is a property of what is imported as the default. */
  const printer: { readonly default: typeof PdfPrinter }
  export default printer
}

declare module 'fontkit' {
  export function create(bytes: Uint8Array, family?: string): unknown
}
