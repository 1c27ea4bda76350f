import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT, type ExitCode, usage } from '../exit.ts'
import { assertFolder } from '../folder.ts'
import { pluginTypes } from '../format/plugin-types.ts'
import { makeFolder } from '../make-folder.ts'
import { type Run, show } from '../terminal.ts'

const DECLARATIONS = join('.bindery', 'plugins.d.ts')
const PROJECT = 'jsconfig.json'

/** With this file, editors check scripts. Parameters without a declared type may be anything. */
const PROJECT_TEXT = `{
  "compilerOptions": {
    "checkJs": true,
    "noImplicitAny": false,
    "target": "es2023",
    "lib": ["es2023"],
    "types": [],
    "module": "preserve",
    "noEmit": true
  },
  "include": ["**/scripts/**/*.js", "${DECLARATIONS}"]
}
`

/** `bindery types`: TypeScript declarations for authors of plugins. */
export function types({ out, into }: { out?: string; into?: string }, run: Run): ExitCode {
  if (into !== undefined) {
    if (out !== undefined) throw usage('Give either --out or --into, not both.')
    return install(into, run)
  }
  const text = pluginTypes()
  if (out === undefined) {
    show(run, { ok: true, types: text }, () => text)
    return EXIT.ok
  }
  makeFolder(dirname(out))
  writeFileSync(out, text)
  show(run, { ok: true, file: out }, () => `wrote ${out}\n`)
  return EXIT.ok
}

/** Leaves an existing `jsconfig.json` alone. */
function install(folder: string, run: Run): ExitCode {
  assertFolder(folder)
  const files = [join(folder, DECLARATIONS), join(folder, PROJECT)] as const
  const [declarations, project] = files
  makeFolder(dirname(declarations))
  writeFileSync(declarations, pluginTypes())
  const isPresent = existsSync(project)
  if (!isPresent) writeFileSync(project, PROJECT_TEXT)
  show(run, { ok: true, files: isPresent ? [declarations] : files }, () =>
    isPresent
      ? `wrote ${declarations}; ${project} already exists\n`
      : `wrote ${declarations} and ${project}\n`,
  )
  return EXIT.ok
}
