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

type Folder = { readonly names: string[]; readonly folders: Map<string, Folder> }

const newFolder = (): Folder => ({ names: [], folders: new Map() })

export function indexFiles(files: readonly ArchiveFile[]): FileIndex {
  const byPath = new Map(files.map(file => [file.path, file]))
  const root = newFolder()
  for (const path of [...byPath.keys()].sort()) {
    const segments = path.split('/')
    const name = segments.pop()!
    let folder = root
    for (const segment of segments) {
      const known = folder.folders.get(segment)
      const inner = known ?? newFolder()
      if (!known) folder.folders.set(segment, inner)
      folder = inner
    }
    folder.names.push(name)
  }
  const at = (path: string): Folder | undefined =>
    (path === '' ? [] : path.split('/')).reduce<Folder | undefined>(
      (folder, segment) => folder?.folders.get(segment),
      root,
    )
  const taken = new Set<string>()
  return {
    take: path => {
      const file = byPath.get(path.normalize('NFC'))
      if (file !== undefined) taken.add(file.path)
      return file
    },
    namesIn: folder => at(folder)?.names ?? [],
    foldersIn: folder => [...(at(folder)?.folders.keys() ?? [])],
    pathsBelow: folder =>
      [...byPath.keys()]
        .filter(path => path.startsWith(`${folder}/`))
        .map(path => path.slice(folder.length + 1))
        .sort(),
    leftOver: () => [...byPath.keys()].filter(path => !taken.has(path)).sort(),
  }
}
