// The types of the typed client, made from the service's own document. `npm run config` writes client/contract.ts; with --build
// (`npm pack`) client/dist is written too: the client as modules of JavaScript with their types.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { contractTypes, type OpenApiDocument } from './contract-types.ts'
import { writeKept } from './kept-builds.ts'
import { loadDocument } from './routes.ts'

const CONTRACT_FILE = 'client/contract.ts'
const BUILT_FOLDER = 'client/dist'

const HEADER = '// Made by `npm run config` of the document of the interface; do not edit.\n'

/** Webhooks are what the service calls, not what a client does. */
function ofCalls(document: string): OpenApiDocument {
  const { webhooks: _, ...calls } = JSON.parse(document)
  return calls
}

/** Writes the types. */
export const writeContract = (): Promise<void> =>
  writeKept('contract', async () => ({
    [CONTRACT_FILE]: HEADER + contractTypes(ofCalls(await loadDocument())),
  }))

/** Compiles the client for anyone who installs the package. */
export function buildClient(): void {
  rmSync(BUILT_FOLDER, { recursive: true, force: true })
  execFileSync('node_modules/.bin/tsc', ['--project', 'client/tsconfig.json'], { stdio: 'inherit' })
}

if (import.meta.main) {
  await writeContract()
  if (process.argv.includes('--build')) buildClient()
}
