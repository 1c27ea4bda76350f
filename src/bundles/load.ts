// Modules apart, built by scripts/bundles.ts: no part of the Worker's start-up, which reads every line of its own file.
// They are named after this folder, so that only a file in it can load them (wrangler.toml, `base_dir`). A class
// of the service's own is another class there: errors that come out of one are told by their name, not by `instanceof`.

/** HTML to PDF: packages/pdf/render.ts. */
export const loadRenderer = () => import('./renderer.bundle.mjs')

/** PDFs to one PDF: packages/pdf/merge.ts. */
export const loadMerger = () => import('./merger.bundle.mjs')

/** The console's page: console/. */
export const loadConsole = () => import('./console.bundle.mjs')

/** The page at /docs: console/reference/. */
export const loadReference = () => import('./reference.bundle.mjs')

/** The engine of patterns: src/product/fields/pattern-engine.ts. */
export const loadPatterns = () => import('./patterns.bundle.mjs')

/** What reads and runs tenant code: src/extension/plugins/program.ts. */
export const loadSandbox = () => import('./sandbox.bundle.mjs')

/** What a deploy searches configurations with: src/servicing/template-data/analysis.ts. */
export const loadAnalysis = () => import('./analysis.bundle.mjs')

/** What differs between two configurations: src/product/difference. */
export const loadDifference = () => import('./difference.bundle.mjs')

/** The Model Context Protocol and its tools: src/agents/protocol/serve.ts. */
export const loadAgents = () => import('./agents.bundle.mjs')

/** Words and examples of the OpenAPI document: src/wording/apart.ts. */
export const loadDocumentWords = () => import('./document.bundle.mjs')

/** Files of reports as Parquet: src/reporting/files/parquet.ts. */
export const loadParquet = () => import('./parquet.bundle.mjs')
