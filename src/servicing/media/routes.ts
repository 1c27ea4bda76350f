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
    summary: 'Upload a file for media fields',
    description:
      'At most 25 MiB, as the part `file` of a form. Media fields of policies, exposures and perils refer to it by its locator. Its type is determined by its first bytes if they show one, otherwise by the Content-Type of the part. If that is missing or `application/octet-stream`, the extension of the file name decides.',
    permission: 'media.update',
    query: z.object({
      fileName: OptionalLongName.describe('Replaces the file name of the part.'),
    }),
    form: {
      schema: z.object({ file: filePart('file') }),
      file: 'file',
      largestFileBytes: LARGEST_UPLOAD_BYTES,
    },
    answer: { schema: Media, description: 'The medium, with an address that is valid for 30 minutes.' },
    handle: async ({ query, file }, context) =>
      jsonText(await (await service()).uploadMedium(context, query.fileName, file)),
  }),
  get('/media/{locator}', {
    summary: 'Get a medium, with the address of its file',
    permission: 'media.read',
    answer: { schema: Media, description: 'The medium, with an address that is valid for 30 minutes.' },
    handle: async ({ params }, context) => await (await service()).readMedium(context, params.locator),
  }),
]
