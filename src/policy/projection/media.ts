import { mediaAddress } from '../../platform/http/file-links.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { Media } from '../contract/documents.ts'
import { type Medium, mediaIn } from '../records/medium.ts'

export const mediaResponse = ({ locator, fileName, mimeType }: Medium): Media => ({
  locator,
  mimeType,
  ...mediaAddress(locator, fileName),
  fileName,
})

/** `mediaByLocator` of a record with these fields. */
export const mediaByLocator = (data: FieldData, media: ReadonlyMap<string, Medium>): Record<string, Media> =>
  Object.fromEntries(mediaIn(data, media).map(medium => [medium.locator, mediaResponse(medium)]))
