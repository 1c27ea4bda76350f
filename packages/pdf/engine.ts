// The layout engine: pdfmake, with the platform's own streams and compression, and fonts from memory.
import './engine-layout.ts'
import './engine-text.ts'
import printer from 'pdfmake/js/Printer.js'
import type { ContentDefinition } from './content.ts'
import { MAIN_FONT, OTHER_FONT } from './fonts.ts'
import type { ConversionBudget } from './limits.ts'

const FACES = {
  [MAIN_FONT]: { normal: 'regular', bold: 'bold', italics: 'italic', bolditalics: 'boldItalic' },
  [OTHER_FONT]: {
    normal: 'otherRegular',
    bold: 'otherBold',
    italics: 'otherRegular',
    bolditalics: 'otherBold',
  },
} as const

/**
 * Makes PDFs of content with these fonts, and those of a document. It reads nothing else: no file, no address. What it
 * does counts against the budget.
 */
export class Engine {
  readonly #printer: InstanceType<typeof printer.default>

  constructor(
    files: ReadonlyMap<string, Uint8Array>,
    budget: ConversionBudget,
    own: Readonly<Record<string, Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>>> = {},
  ) {
    this.#printer = new printer.default(
      { ...FACES, ...own },
      {
        existsSync: (name: string) => files.has(name),
        readFileSync: (name: string) => files.get(name),
        budget,
      },
      { resolve: () => undefined, resolved: async () => undefined },
      () => false,
    )
  }

  /** Height of the content on a page that is as high as it needs. */
  async heightOf(content: ContentDefinition): Promise<number> {
    const pdf = await this.#printer.createPdfKitDocument(content)
    return pdf.page.height
  }

  /** `id`: 16 bytes that say which file it is. */
  async bytesOf(content: ContentDefinition, id: Uint8Array): Promise<Uint8Array> {
    const pdf = await this.#printer.createPdfKitDocument(content)
    pdf._id = id
    // The library puts texts into XML as they are.
    const addInfo = pdf._addInfo
    pdf._addInfo = function () {
      this.info = Object.fromEntries(
        Object.entries(this.info).map(([key, value]) => [
          key,
          typeof value === 'string' ? escapedXml(value) : value,
        ]),
      )
      addInfo.call(this)
    }
    const chunks: Uint8Array[] = []
    return await new Promise((resolve, reject) => {
      pdf.on('data', chunk => chunks.push(chunk))
      pdf.on('end', () => resolve(new Uint8Array(Buffer.concat(chunks))))
      pdf.on('error', reject)
      pdf.end()
    })
  }
}

const XML_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Text as XML has it; what XML cannot have is left out. */
const escapedXml = (text: string): string =>
  text
    .replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>]/g, sign => XML_ENTITIES[sign]!)
