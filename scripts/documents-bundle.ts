// Builds the renderer of documents into one file beside the service's own: loaded when the first document is made,
// it is no part of the Worker's start-up (docs/design.md, section 3).
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

const ENTRY = 'src/documents/pdf/render.ts'
export const DOCUMENTS_BUNDLE = 'src/documents/pdf/renderer.bundle.mjs'

const CACHED_FONTS = resolve('src/documents/pdf/fontkit-cached.ts')

/** The PDF library gets fonts that were read before; who reads them gets the library that does. */
const cachedFonts: Plugin = {
  name: 'cached-fonts',
  setup: build =>
    build.onResolve({ filter: /^fontkit$/ }, ({ importer }) =>
      importer === CACHED_FONTS ? undefined : { path: CACHED_FONTS },
    ),
}

/** Modules of the platform, by the names that libraries know. */
const platform: Plugin = {
  name: 'platform',
  setup: build =>
    build.onResolve(
      { filter: /^(?:node:)?(?:fs|stream|zlib|buffer|util|events|assert|path|crypto)$/ },
      ({ path }) => ({
        path: path.startsWith('node:') ? path : `node:${path}`,
        external: true,
      }),
    ),
}

/** Writes the file when it changes: a service that runs from here would start anew at every write. */
export async function buildDocumentsBundle(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    target: 'es2024',
    minify: true,
    legalComments: 'none',
    plugins: [cachedFonts, platform],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire('file:///'); const __dirname = '/';",
    },
    write: false,
  })
  const { text } = outputFiles[0]!
  if (existsSync(DOCUMENTS_BUNDLE) && readFileSync(DOCUMENTS_BUNDLE, 'utf8') === text) return
  // Whoever reads it meanwhile has the old one or the new one.
  const written = `${DOCUMENTS_BUNDLE}.${process.pid}`
  writeFileSync(written, text)
  renameSync(written, DOCUMENTS_BUNDLE)
}

if (import.meta.main) await buildDocumentsBundle()
