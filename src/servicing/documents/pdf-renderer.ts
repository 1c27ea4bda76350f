// Two renderers make PDFs from the same HTML: the embedded one, and Cloudflare Browser Rendering if the binding BROWSER exists.
import type { FontFiles, OwnFontFiles } from '../../../packages/pdf/fonts.ts'
import type { Page, RenderedPdf } from '../../../packages/pdf/page.ts'
import { loadRenderer } from '../../bundles/load.ts'
import type { Instant } from '../../kernel/time.ts'

export type PdfRenderer = {
  /** Fonts are identified by their `@font-face` names. Throws a ConversionError for HTML that can never become a PDF. */
  render(html: string, page: Page, fonts: OwnFontFiles, madeAt: Instant): Promise<RenderedPdf>
}

/** Not a promise, because the promise of a request that was cut off would never resolve. */
let fonts: FontFiles | undefined

async function readFonts(): Promise<FontFiles> {
  const files = await Promise.all([
    import('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf'),
    import('@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf'),
    import('@expo-google-fonts/noto-sans/400Regular_Italic/NotoSans_400Regular_Italic.ttf'),
    import('@expo-google-fonts/noto-sans/700Bold_Italic/NotoSans_700Bold_Italic.ttf'),
    import('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    import('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  ])
  const [regular, bold, italic, boldItalic, otherRegular, otherBold] = files.map(file => file.default)
  return { regular, bold, italic, boldItalic, otherRegular, otherBold } as FontFiles
}

/** The embedded renderer (docs/css.md). Loaded when the first document is made. */
const EMBEDDED: PdfRenderer = {
  async render(html, page, own, madeAt) {
    fonts ??= await readFonts()
    const { renderPdf } = await loadRenderer()
    return await renderPdf(html, page, fonts, own, madeAt)
  },
}

/** Returns the renderer of the binding `BROWSER` if there is one, otherwise the embedded one. */
export async function pdfRenderer(env: Env): Promise<PdfRenderer> {
  const { BROWSER } = env as Env & { BROWSER?: BrowserRun }
  if (!BROWSER) return EMBEDDED
  const { browserRenderer } = await import('./browser-renderer.ts')
  return browserRenderer(BROWSER)
}
