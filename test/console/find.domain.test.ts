// What the console keeps of the responses that it reads for every page.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.hoisted(() => {
  Object.assign(globalThis, {
    sessionStorage: { getItem: () => null, removeItem: () => {}, setItem: () => {} },
  })
})

type Find = {
  products(): Promise<object[]>
  displayNames(): Promise<ReadonlyMap<string, string>>
  holderFields(): Promise<ReadonlyMap<string, object>>
  forgetAll(): void
}

// The module is compiled with the types of a browser, and this file with those of the service.
const FIND: string = '../../console/find.ts'
const { displayNames, forgetAll, holderFields, products } = (await import(FIND)) as Find
const { beginSession } = await import('../../console/session.ts')

const motor = { name: 'motor', displayName: 'Motor', exposures: [], paymentSchedules: [] }

const serve = (...responses: (() => Response)[]): void => {
  vi.stubGlobal('fetch', async () => responses.shift()!())
}
const lost = (): Response => {
  throw new TypeError('Failed to fetch')
}

beforeEach(() => {
  forgetAll()
  beginSession(`.${btoa(JSON.stringify({ exp: Date.now() / 1000 + 3_600 }))}.`)
})
afterEach(() => vi.unstubAllGlobals())

test('Products that could not be read are read again, and are not taken for missing permission', async () => {
  serve(
    lost,
    () => Response.json({}, { status: 500 }),
    () => Response.json([motor]),
  )
  await expect(products()).rejects.toThrow('The service cannot be reached.')
  await expect(products()).rejects.toThrow('status 500')
  expect(await products()).toEqual([motor])
  // Kept from now on.
  expect(await products()).toEqual([motor])
})

test('An account that may not read products sees none', async () => {
  serve(() => Response.json({}, { status: 403 }))
  expect(await products()).toEqual([])
})

test('Names and fields that could not be read are missing only until the next page', async () => {
  serve(lost, lost, () => Response.json([motor]))
  expect(await displayNames()).toEqual(new Map())
  expect(await holderFields()).toEqual(new Map())
  expect(await displayNames()).toEqual(new Map([['motor', 'Motor']]))
})
