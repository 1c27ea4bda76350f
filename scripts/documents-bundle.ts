// Builds the renderer of documents into one file beside the service's own: loaded when the first document is made,
// it is no part of the Worker's start-up (docs/design.md, section 3).
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const ENTRY = 'src/documents/pdf/render.ts'
export const DOCUMENTS_BUNDLE = 'src/documents/pdf/renderer.bundle.mjs'

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
    external: ['node:*'],
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
