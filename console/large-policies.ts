// A policy of many perils and many transactions is large, or too large for one answer. It is read without the characteristics of its
// perils then, and those of an exposure when somebody looks at it.
import { call, get } from './api.ts'
import type { Exposure, Policy, Preview } from './wire.ts'

const pathOf = (locator: string, which: string): string =>
  `/policy/${encodeURIComponent(locator)}?summarizeQuotes=true&perilCharacteristics=${which}`

export const readPolicy = (locator: string, signal: AbortSignal): Promise<Policy> =>
  get<Policy>(pathOf(locator, 'few'), signal)

/** Whether the exposure's perils were left out: each has characteristics where they were not. */
export const isOutlined = ({ perils }: Exposure): boolean =>
  perils.some(({ characteristics }) => characteristics.length === 0)

/** The exposure as it is, with the characteristics of its perils. */
export async function exposureInFull({ locator }: Policy, outlined: Exposure): Promise<Exposure> {
  const { exposures } = await get<Policy>(pathOf(locator, outlined.locator))
  return exposures.find(one => one.locator === outlined.locator) ?? outlined
}

export const previewPolicy = (locator: string, body: object): Promise<Preview> =>
  call<Preview>('POST', `/policies/${encodeURIComponent(locator)}/preview?perilCharacteristics=few`, { body })
