import type { ArchiveFile } from '../archive/read.ts'

/** The files by path. What no check asks for is left over, and is reported as unknown. */
export type FileIndex = {
  /** The file, now known to be part of the configuration. */
  take: (path: string) => ArchiveFile | undefined
  /** Files directly in the folder, by name; none of them taken yet. */
  namesIn: (folder: string) => string[]
  foldersIn: (folder: string) => string[]
  /** Files anywhere below the folder, as paths below it. */
  pathsBelow: (folder: string) => string[]
  leftOver: () => string[]
}

export function indexFiles(files: readonly ArchiveFile[]): FileIndex {
  const byPath = new Map(files.map(file => [file.path, file]))
  const byFolder = new Map<string, { names: string[]; folders: Set<string> }>()
  const folderOf = (path: string) => {
    const known = byFolder.get(path)
    if (known !== undefined) return known
    const folder = { names: [], folders: new Set<string>() }
    byFolder.set(path, folder)
    return folder
  }
  for (const path of [...byPath.keys()].sort()) {
    const segments = path.split('/')
    const name = segments.pop()!
    for (let depth = 0; depth < segments.length; depth += 1)
      folderOf(segments.slice(0, depth).join('/')).folders.add(segments[depth]!)
    folderOf(segments.join('/')).names.push(name)
  }
  const taken = new Set<string>()
  return {
    take: path => {
      const file = byPath.get(path.normalize('NFC'))
      if (file !== undefined) taken.add(file.path)
      return file
    },
    namesIn: folder => byFolder.get(folder)?.names ?? [],
    foldersIn: folder => [...(byFolder.get(folder)?.folders ?? [])],
    pathsBelow: folder =>
      [...byPath.keys()]
        .filter(path => path.startsWith(`${folder}/`))
        .map(path => path.slice(folder.length + 1))
        .sort(),
    leftOver: () => [...byPath.keys()].filter(path => !taken.has(path)).sort(),
  }
}
