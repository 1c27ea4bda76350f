// Who makes PDFs of HTML. Two do: the renderer within the service, and Cloudflare's Browser Rendering where the
// binding BROWSER is there. Both take the same HTML and give a file.
import type { FontFiles, OwnFontFiles } from '../../../packages/pdf/fonts.ts'
import type { Page, RenderedPdf } from '../../../packages/pdf/page.ts'
import { loadRenderer } from '../../bundles/load.ts'
import type { Instant } from '../../kernel/time.ts'

export type PdfRenderer = {
  /** The PDF, with the configuration's fonts by their `@font-face` names. Throws a ConversionError for what can never become one. */
  render(html: string, page: Page, fonts: OwnFontFiles, madeAt: Instant): Promise<RenderedPdf>
}

/** The files and not a promise of them: one of a request that was cut off would never come. */
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

/** The renderer within the service; docs/css.md says what it supports. Loaded when the first document is made. */
const EMBEDDED: PdfRenderer = {
  async render(html, page, own, madeAt) {
    fonts ??= await readFonts()
    const { renderPdf } = await loadRenderer()
    return await renderPdf(html, page, fonts, own, madeAt)
  },
}

/** The browser where there is one, else the renderer within the service. */
export async function pdfRenderer(env: Env): Promise<PdfRenderer> {
  const { BROWSER } = env as Env & { BROWSER?: BrowserRun }
  if (!BROWSER) return EMBEDDED
  const { browserRenderer } = await import('./browser-renderer.ts')
  return browserRenderer(BROWSER)
}
