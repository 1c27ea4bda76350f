import { z } from '@hono/zod-openapi'
import { forTenant, jsonText, type Route } from '../../platform/http/route.ts'
import { filePart, OptionalLongName } from '../../platform/wire.ts'
import { Media } from '../../policy/contract/documents.ts'
import { LARGEST_UPLOAD_BYTES } from '../../transactions/documents/upload.ts'

const { get, post } = forTenant('Media')

/** Loaded on first use, because most requests never need the code for files. */
const service = () => import('./service.ts')

/** Published clients call both paths, but nothing describes them (brief 0.10), so the shapes are our decisions. */
export const mediaRoutes: readonly Route[] = [
  post('/media', {
    summary: 'Upload a file that media fields can name',
    description:
      'At most 25 MiB, as the part `file` of a form. Media fields of policies, exposures and perils name it by its locator. Its type is that of its first bytes, where they show one; else the Content-Type of the part; without one, or with `application/octet-stream`, that of the ending of its name.',
    permission: 'media.update',
    query: z.object({
      fileName: OptionalLongName.describe('In place of the name that the part has.'),
    }),
    form: {
      schema: z.object({ file: filePart('file') }),
      file: 'file',
      largestFileBytes: LARGEST_UPLOAD_BYTES,
    },
    answer: { schema: Media, description: 'The medium, with an address that holds for 30 minutes.' },
    handle: async ({ query, file }, context) =>
      jsonText(await (await service()).uploadMedium(context, query.fileName, file)),
  }),
  get('/media/{locator}', {
    summary: 'Get a medium, with an address of its file',
    permission: 'media.read',
    answer: { schema: Media, description: 'The medium, with an address that holds for 30 minutes.' },
    handle: async ({ params }, context) => await (await service()).readMedium(context, params.locator),
  }),
]
