// The static documents of a product: the files in its static_documents, and those of the bootstrap. Only a PDF or HTML can be
// attached to a policy, and the type is read from the bytes, as when the document is made.
import type { DocumentDefinition } from '../../configuration.ts'
import { type ResourceType, staticNameOfFile } from '../../resources.ts'
import { typeOfBytes } from '../../templates/document-type.ts'
import type { Archive } from '../archive.ts'

type DocumentType = DocumentDefinition['type']

/** Returns the paths of the files that the bootstrap has for resources of the type and static name. */
export type BootstrapPaths = (type: ResourceType, staticName: string) => readonly string[]

/** Returns the type of a file of the archive; undefined if it is neither PDF nor HTML. Unpacks each file once. */
export type DocumentTypes = (path: string) => DocumentType | undefined

/**
 * Returns a function that reads the types of the archive's files. It marks each file as part of the configuration. The archive must
 * have the file.
 */
export function documentTypes({ take }: Archive): DocumentTypes {
  const types = new Map<string, DocumentType | undefined>()
  return path => {
    if (!types.has(path)) types.set(path, typeOfBytes(take(path)!.bytes()))
    return types.get(path)
  }
}

export type StaticDocuments = {
  /** The file names in static_documents. */
  readonly names: readonly string[]
  /** Returns whether the archive has the static document. */
  readonly has: (name: string) => boolean
  /** Returns whether the archive has the image. Unlike for documents, `.pdf` is not added. */
  readonly hasImage: (name: string) => boolean
  /** Returns what prevents a file of that name from being the document; undefined if nothing does. */
  readonly problem: (name: string, declared?: DocumentType) => string | undefined
}

/** Reads the names of the static documents of a product. Without `typeOf`, their contents are not checked. */
export function staticDocumentsOf(
  folder: string,
  archive: Archive,
  bootstrapPaths: BootstrapPaths,
  typeOf: DocumentTypes | undefined,
): StaticDocuments {
  const names = archive.namesIn(folder)
  for (const name of names) archive.take(`${folder}/${name}`)
  const resourcesOf = (name: string) => bootstrapPaths('staticDocument', staticNameOfFile(name))
  const ownPath = (name: string): string[] => {
    const own = name.normalize('NFC')
    return [own, `${own}.pdf`].filter(one => names.includes(one)).map(one => `${folder}/${one}`)
  }
  const pathsOf = (name: string): string[] => [...resourcesOf(name), ...ownPath(name).slice(0, 1)]
  return {
    names,
    has: name => pathsOf(name).length > 0,
    hasImage: name => names.includes(name.normalize('NFC')) || resourcesOf(name).length > 0,
    problem: (name, declared) => {
      for (const path of typeOf ? pathsOf(name) : []) {
        const type = typeOf!(path)
        if (type === undefined)
          return `'${path}' is neither PDF nor HTML, and other files cannot be documents. Save it in one of these formats.`
        if (declared && type !== declared)
          return `'${path}' is ${type}, and the document must be ${declared}. Set its type to ${type}, or leave the type out.`
      }
      return undefined
    },
  }
}
