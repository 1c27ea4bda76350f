// The typed client's types, made of the service's own document. `npm run config` writes client/contract.ts; with --build
// (`npm pack`) client/dist is written too: the client as modules of JavaScript with their types.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type * as OpenApiTypescript from 'openapi-typescript'
import { replaceFile } from './replace-file.ts'
import { loadDocument } from './routes.ts'

const CONTRACT_FILE = 'client/contract.ts'
const BUILT_FOLDER = 'client/dist'

type Generator = {
  generate: typeof OpenApiTypescript.default
  astToString: typeof OpenApiTypescript.astToString
}
type SchemaObject = { format?: string }

/**
 * openapi-typescript writes with the compiler's API of version 5, which the compiler of this repository has no longer: it
 * is made one file with the version that has it.
 */
async function loadGenerator(): Promise<Generator> {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-typescript-'))
  const outfile = join(folder, 'generator.cjs')
  try {
    await build({
      stdin: {
        contents: `export { default as generate, astToString } from 'openapi-typescript'`,
        resolveDir: import.meta.dirname,
      },
      outfile,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      alias: { typescript: 'typescript5' },
      logLevel: 'error',
    })
    return ((await import(pathToFileURL(outfile).href)) as { default: Generator }).default
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Webhooks are what the service calls, not what a client does. */
function ofCalls(document: string): Record<string, unknown> {
  const { webhooks: _, ...calls } = JSON.parse(document)
  return calls
}

/** The types, as text: a file to send is a Blob, not the text that JSON would make of it. */
async function contractText(document: Record<string, unknown>, mark: string): Promise<string> {
  const { generate, astToString } = await loadGenerator()
  const { default: ts } = await import('typescript5')
  const blob = ts.factory.createTypeReferenceNode('Blob')
  const nodes = await generate(document as never, {
    defaultNonNullable: false,
    transform: (schema: SchemaObject) => (schema.format === 'binary' ? (blob as never) : undefined),
  })
  return `${mark}\n${astToString(nodes)}`
}

/** Writes the types where the document is another than the one they were made of. */
export async function writeContract(): Promise<void> {
  const calls = ofCalls(await loadDocument())
  const hash = createHash('sha256').update(JSON.stringify(calls)).digest('hex').slice(0, 16)
  const mark = `// Made by \`npm run config\` of the document of the interface (${hash}); do not edit.`
  if (existsSync(CONTRACT_FILE) && readFileSync(CONTRACT_FILE, 'utf8').startsWith(mark)) return
  replaceFile(CONTRACT_FILE, await contractText(calls, mark))
}

/** Compiles the client for whoever installs the package. */
export function buildClient(): void {
  rmSync(BUILT_FOLDER, { recursive: true, force: true })
  execFileSync('node_modules/.bin/tsc', ['--project', 'client/tsconfig.json'], { stdio: 'inherit' })
}

if (import.meta.main) {
  await writeContract()
  if (process.argv.includes('--build')) buildClient()
}
