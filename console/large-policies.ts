// Large policies. A policy with many perils and many transactions may be too large for one response. It is then read without the
// characteristics of its perils, which are read for one exposure when the user opens it.
import { call, get } from './api.ts'
import type { Exposure, Policy, Preview } from './wire.ts'

const pathOf = (locator: string, which: string): string =>
  `/policy/${encodeURIComponent(locator)}?summarizeQuotes=true&perilCharacteristics=${which}`

export const readPolicy = (locator: string, signal?: AbortSignal): Promise<Policy> =>
  get<Policy>(pathOf(locator, 'few'), signal)

/** Whether the perils' characteristics were left out. If they were not, each peril has some. */
export const isOutlined = ({ perils }: Exposure): boolean =>
  perils.some(({ characteristics }) => characteristics.length === 0)

/** Reads the exposure with the characteristics of its perils. */
export async function exposureInFull({ locator }: Policy, outlined: Exposure): Promise<Exposure> {
  const { exposures } = await get<Policy>(pathOf(locator, outlined.locator))
  return exposures.find(exposure => exposure.locator === outlined.locator) ?? outlined
}

export const previewPolicy = (locator: string, body: object): Promise<Preview> =>
  call<Preview>('POST', `/policies/${encodeURIComponent(locator)}/preview?perilCharacteristics=few`, { body })
