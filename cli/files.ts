// Files that the command line reads beside its own code. In the package they lie elsewhere (scripts/packages.ts).
import { join } from 'node:path'

const at = (path: string): string => join(import.meta.dirname, path)

/** Its version is the command line's. */
export const PACKAGE_FILE = at('../package.json')
/** What `bindery new` copies. */
export const STARTER_FOLDER = at('starter')
/** Declarations that plugins find. */
export const SCRIPT_API_FILE = at('../src/extension/plugins/script-api.ts')
