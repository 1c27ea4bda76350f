// A write that is held against the ETag of the record which it changes.
import { expect } from 'vitest'
import { type Answer, callApi } from './api.ts'

/** A record, where it is read, and a write that changes it. */
export type Change = { read: string; method: string; path: string; body?: unknown }

type Refused = { code: string; message: string; currentETag?: string }

/**
 * The write is refused for a record as it was, not carried out then, and carried out for the record as it is; its answer. `token`
 * is asked at each call.
 */
export async function held(
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
