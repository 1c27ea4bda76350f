// Creates the resource of a file of the archive, by the functions that serve uploads.
import type { RequestContext } from '../../platform/context.ts'
import type { Upload } from '../../platform/http/body/upload.ts'
import type { ArchiveFile } from '../../product/archive/read.ts'
import type { BootstrapResource, ResourceType } from '../../product/resources.ts'
import { createConstraintTable } from '../../reference/constraints/service.ts'
import { createTable } from '../../reference/data-tables/service.ts'
import { documentFormat, fontFile } from '../../reference/files/formats.ts'
import { createFile, type FileKind } from '../../reference/files/service.ts'
import { createSecret } from '../../reference/secrets/service.ts'
import { templateKind } from '../../reference/templates/kinds.ts'

type Creator = (item: BootstrapResource, file: ArchiveFile, context: RequestContext) => Promise<unknown>

/** The file in the form of an upload. */
function uploadOf({ path, bytes }: ArchiveFile, mediaType: string | undefined): Upload {
  const content = bytes() as Uint8Array<ArrayBuffer>
  return {
    mediaType,
    fileName: path.slice(path.lastIndexOf('/') + 1),
    stream: (async function* () {
      for (let at = 0; at < content.length; at += PIECE_BYTES) yield content.subarray(at, at + PIECE_BYTES)
    })(),
  }
}
const PIECE_BYTES = 65_536

const table =
  (kind: 'table' | 'rangeTable'): Creator =>
  ({ name, staticName, jurisdictions }, file, context) =>
    createTable(kind, { name, staticName, jurisdiction: jurisdictions }, uploadOf(file, 'text/csv'), context)

const oneFile =
  (kindOf: (path: string) => FileKind, mediaType?: string): Creator =>
  ({ name, staticName, jurisdictions }, file, context) =>
    createFile(
      { name, staticName, jurisdiction: jurisdictions },
      kindOf(file.path),
      uploadOf(file, mediaType),
      context,
    )

/** The dialect by the file's ending: `.vm` and `.velocity` are Velocity, all others Liquid. */
const template = (type: 'documentTemplate' | 'documentTemplateSnippet'): Creator =>
  oneFile(path => templateKind(type, /\.(vm|velocity)$/i.test(path) ? 'velocity' : 'liquid'), 'text/plain')

const CREATORS: Readonly<Record<ResourceType, Creator>> = {
  table: table('table'),
  rangeTable: table('rangeTable'),
  constraintTable: ({ name, staticName, jurisdictions }, file, context) =>
    createConstraintTable(
      { name, staticName, jurisdiction: jurisdictions },
      uploadOf(file, 'text/csv'),
      context,
    ),
  documentTemplate: template('documentTemplate'),
  documentTemplateSnippet: template('documentTemplateSnippet'),
  staticDocument: oneFile(() => ({ type: 'staticDocument', read: documentFormat })),
  customFont: oneFile(() => ({ type: 'customFont', read: fontFile })),
  secret: ({ name, staticName, jurisdictions, allowedHosts }, file, context) =>
    createSecret(
      {
        name,
        staticName,
        secret: JSON.parse(file.text()) as Record<string, unknown>,
        jurisdictions: [...jurisdictions],
        ...(allowedHosts && { allowedHosts: [...allowedHosts] }),
      },
      {},
      context,
    ),
}

export async function createFromFile(
  item: BootstrapResource,
  file: ArchiveFile,
  context: RequestContext,
): Promise<void> {
  await CREATORS[item.type](item, file, context)
}
