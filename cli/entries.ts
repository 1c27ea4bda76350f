// What lies below a folder.
import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Files, links and the rest, but folders. A folder that is linked is one link: the recursive reading of Node follows it, and then goes around where it leads up. */
export const entriesBelow = (folder: string): Dirent[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? entriesBelow(join(folder, entry.name)) : [entry],
  )
