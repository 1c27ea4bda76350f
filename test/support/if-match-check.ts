// Checks that a write respects the ETag of the record that it changes.
import { expect } from 'vitest'
import { type Answer, callApi } from './api.ts'

/** A write that changes a record, and the path at which the record is read. */
export type Change = { read: string; method: string; path: string; body?: unknown }

type Refused = { code: string; message: string; currentETag?: string }

/**
 * Expects the write to be rejected, without any effect, for an ETag that is out of date, and carried out for the current one.
 * Returns the response. `token` is called for each request.
 */
export async function expectIfMatchChecked(
  { read: at, method, path, body }: Change,
  token: () => string,
): Promise<Answer<{ locator: string }>> {
  const send = <Body>(ifMatch: string) =>
    callApi<Body>(method, path, { token: token(), headers: { 'if-match': ifMatch }, body })
  const read = async (): Promise<string> => {
    const answer = await callApi('GET', at, { token: token() })
    expect(answer.status, at).toBe(200)
    return answer.headers.get('etag')!
  }
  const tag = await read()
  const refused = await send<Refused>('"of-another-time"')
  expect(refused.body, `${method} ${path}`).toMatchObject({
    code: 'preconditionFailed',
    currentETag: expect.any(String),
  })
  expect([refused.status, refused.headers.get('etag')]).toEqual([412, refused.body.currentETag])
  expect(refused.body.currentETag).toBe(tag.replace(/^W\/|\.\w+(?="$)/g, ''))
  expect(refused.body.message).toContain(refused.body.currentETag)
  expect(await read()).toBe(tag)
  const done = await send<{ locator: string }>(`"other", ${tag}`)
  expect(done.status, `${method} ${path}: ${JSON.stringify(done.body)}`).toBe(200)
  return done
}
