// Modules that are loaded when they are first needed (scripts/bundles.ts builds them). The runtime reads every line of the Worker's own
// file at start-up, so they are not part of it. They lie in this folder, and only a file of this folder can load them (`base_dir` in
// wrangler.toml). Each has its own copies of the service's classes: recognise an error from such a module by its name, not by
// `instanceof`.

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

/** The sandbox that reads and runs the code of tenants: src/extension/plugins/program.ts. */
export const loadSandbox = () => import('./sandbox.bundle.mjs')

/** The search for what templates and plugins use, for a deploy: src/servicing/template-data/analysis.ts. */
export const loadAnalysis = () => import('./analysis.bundle.mjs')

/** The difference between two configurations: src/product/difference. */
export const loadDifference = () => import('./difference.bundle.mjs')

/** The Model Context Protocol and its tools: src/agents/protocol/serve.ts. */
export const loadAgents = () => import('./agents.bundle.mjs')

/** Descriptions and examples of the OpenAPI document: src/wording/apart.ts. */
export const loadDocumentWords = () => import('./document.bundle.mjs')

/** Files of reports as Parquet: src/reporting/files/parquet.ts. */
export const loadParquet = () => import('./parquet.bundle.mjs')
