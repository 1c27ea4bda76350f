// Files that the command line reads in addition to its own code. In the package they are in other places (scripts/packages.ts).
import { join } from 'node:path'

const at = (path: string): string => join(import.meta.dirname, path)

/** Contains the version of the command line. */
export const PACKAGE_FILE = at('../package.json')
/** The folder that `bindery new` copies. */
export const STARTER_FOLDER = at('starter')
/** Declarations of the objects that plugins can use. */
export const SCRIPT_API_FILE = at('../src/extension/plugins/runners/script-api.ts')
