// A policy of many perils and many transactions is too large for one answer. It is read without the characteristics of its perils
// then, and those of an exposure when somebody looks at it.
import { call, get, Problem } from './api.ts'
import type { Exposure, Policy, Preview } from './wire.ts'

const isTooLarge = (problem: unknown): boolean => problem instanceof Problem && problem.status === 413

const pathOf = (locator: string, which?: string): string =>
  `/policy/${encodeURIComponent(locator)}?summarizeQuotes=true${which === undefined ? '' : `&perilCharacteristics=${which}`}`

export async function readPolicy(locator: string, signal: AbortSignal): Promise<Policy> {
  try {
    return await get<Policy>(pathOf(locator), signal)
  } catch (problem) {
    if (!isTooLarge(problem)) throw problem
    return await get<Policy>(pathOf(locator, 'none'), signal)
  }
}

/** Whether the exposure's perils were left out: each has characteristics where they were not. */
export const isOutlined = ({ perils }: Exposure): boolean =>
  perils.some(({ characteristics }) => characteristics.length === 0)

/** The exposure as it is, with the characteristics of its perils. */
export async function exposureInFull({ locator }: Policy, outlined: Exposure): Promise<Exposure> {
  const { exposures } = await get<Policy>(pathOf(locator, outlined.locator))
  return exposures.find(one => one.locator === outlined.locator) ?? outlined
}

export async function previewPolicy(locator: string, body: object): Promise<Preview> {
  const path = `/policies/${encodeURIComponent(locator)}/preview`
  try {
    return await call<Preview>('POST', path, { body })
  } catch (problem) {
    if (!isTooLarge(problem)) throw problem
    return await call<Preview>('POST', `${path}?perilCharacteristics=none`, { body })
  }
}
