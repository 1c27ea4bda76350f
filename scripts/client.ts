// The types of the typed client, made from the service's own document. `npm run config` writes client/contract.ts; with --build
// (`npm pack`) client/dist is written too: the client as modules of JavaScript with their types.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { contractTypes, type OpenApiDocument } from './contract-types.ts'
import { replaceFile } from './replace-file.ts'
import { loadDocument } from './routes.ts'

const CONTRACT_FILE = 'client/contract.ts'
const BUILT_FOLDER = 'client/dist'

/** Webhooks are what the service calls, not what a client does. */
function ofCalls(document: string): OpenApiDocument {
  const { webhooks: _, ...calls } = JSON.parse(document)
  return calls
}

/** Writes the types where the document is another than the one they were made of. */
export async function writeContract(): Promise<void> {
  const calls = ofCalls(await loadDocument())
  const hash = createHash('sha256').update(JSON.stringify(calls)).digest('hex').slice(0, 16)
  const mark = `// Made by \`npm run config\` of the document of the interface (${hash}); do not edit.`
  if (existsSync(CONTRACT_FILE) && readFileSync(CONTRACT_FILE, 'utf8').startsWith(mark)) return
  replaceFile(CONTRACT_FILE, `${mark}\n${contractTypes(calls)}`)
}

/** Compiles the client for anyone who installs the package. */
export function buildClient(): void {
  rmSync(BUILT_FOLDER, { recursive: true, force: true })
  execFileSync('node_modules/.bin/tsc', ['--project', 'client/tsconfig.json'], { stdio: 'inherit' })
}

if (import.meta.main) {
  await writeContract()
  if (process.argv.includes('--build')) buildClient()
}
