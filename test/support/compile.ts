// Compiles programs that use the typed client, each in its own file.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'

const FOLDER = '.wrangler/tests'

/** Returns the compiler's output for the programs, given as texts by file name. Empty if there are no errors. */
export async function compile(programs: Readonly<Record<string, string>>): Promise<string> {
  mkdirSync(FOLDER, { recursive: true })
  const folder = mkdtempSync(resolve(FOLDER, 'compiled-'))
  try {
    for (const [name, text] of Object.entries(programs))
      writeFileSync(join(folder, `${name}.ts`), `${text}\nexport {}\n`)
    const config = join(folder, 'tsconfig.json')
    writeFileSync(
      config,
      JSON.stringify({
        extends: relative(folder, 'tsconfig.json'),
        compilerOptions: {
          types: ['@cloudflare/workers-types', 'node'],
          paths: { 'bindery/client': [relative(folder, 'client/index.ts')] },
        },
        include: ['.'],
        exclude: [],
      }),
    )
    // Each further checker would read the client's types again.
    const compiler = [resolve('node_modules/typescript/bin/tsc'), '--noEmit', '--checkers', '1', '-p', config]
    const { stdout } = await promisify(execFile)(process.execPath, compiler).catch(
      (problem: { stdout: string }) => problem,
    )
    return stdout.replaceAll(`${relative('.', folder)}/`, '')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
