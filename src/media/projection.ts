import type { Media } from '../documents/contract.ts'
import type { FieldData } from '../platform/fields/groups.ts'
import { mediaAddress } from '../platform/http/file-links.ts'
import { type Medium, mediaIn } from './medium.ts'

export const mediaResponse = ({ locator, fileName, mimeType }: Medium): Media => ({
  locator,
  mimeType,
  ...mediaAddress(locator, fileName),
  fileName,
})

/** `mediaByLocator` of a record with these fields. */
export const mediaByLocator = (data: FieldData, media: ReadonlyMap<string, Medium>): Record<string, Media> =>
  Object.fromEntries(mediaIn(data, media).map(medium => [medium.locator, mediaResponse(medium)]))
