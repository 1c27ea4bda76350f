// Bodies over a limit, over a real connection: a client that is still sending must get the response, not a reset.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, sharedService } from '../../support/service-process.ts'

let service: Service
beforeAll(async () => {
  service = await sharedService()
}, 120_000)
afterAll(() => service.remove())

const LARGE = new Uint8Array(33_000_000).fill(0x20)

it.each([
  ['/account/authenticate', 413, 'tooLarge'],
  ['/policy', 401, 'unauthenticated'],
  ['/no/such/path', 404, 'unknownPath'],
])('33 MB of JSON to %s are rejected with %i, every time', async (path, status, code) => {
  for (let time = 0; time < 4; time += 1) {
    const response = await fetch(`${service.origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: LARGE,
    })
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code])
  }
})
