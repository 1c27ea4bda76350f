// The entries below a folder.
import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns files, links and other entries, but no folders. A linked folder is one link. Node's own recursive reading would follow
 * it, and never end if it leads to a folder above.
 */
export const entriesBelow = (folder: string): Dirent[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? entriesBelow(join(folder, entry.name)) : [entry],
  )
