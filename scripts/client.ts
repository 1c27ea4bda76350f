// Writes the types of the typed client from the service's own OpenAPI document. `npm run config` writes client/contract.ts. With
// --build (`npm pack`), client/dist is written too: the client as JavaScript modules with their types.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { contractTypes, type OpenApiDocument } from './contract-types.ts'
import { writeKept } from './kept-builds.ts'
import { loadDocument } from './routes.ts'

const CONTRACT_FILE = 'client/contract.ts'
const BUILT_FOLDER = 'client/dist'

const HEADER = '// Made by `npm run config` of the document of the interface; do not edit.\n'

/** Leaves out webhooks, which are calls by the service and not by a client. */
function ofCalls(document: string): OpenApiDocument {
  const { webhooks: _, ...calls } = JSON.parse(document)
  return calls
}

export const writeContract = (): Promise<void> =>
  writeKept('contract', async () => ({
    [CONTRACT_FILE]: HEADER + contractTypes(ofCalls(await loadDocument())),
  }))

/** Compiles the client for installation as a package. */
export function buildClient(): void {
  rmSync(BUILT_FOLDER, { recursive: true, force: true })
  execFileSync('node_modules/.bin/tsc', ['--project', 'client/tsconfig.json'], { stdio: 'inherit' })
}

if (import.meta.main) {
  await writeContract()
  if (process.argv.includes('--build')) buildClient()
}
