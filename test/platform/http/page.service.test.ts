// Runs the commands of docs/http.md as written, and compares the responses with those on the page.
import { beforeAll, expect, it } from 'vitest'
import page from '../../../docs/http.md?raw'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { motorWithoutPapers } from '../../support/examples.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'

type Command = { method: string; path: string; headers: Record<string, string>; body?: string }

/** Words of a shell: in single or double quotes, or bare. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain!,
  )

function commandOf(line: string): Command {
  const command: Command = { method: 'GET', path: '', headers: {} }
  const words = wordsOf(line)
  for (const [at, word] of words.entries()) {
    const next = words[at + 1]!
    if (word.startsWith('$ORIGIN')) command.path = word.slice('$ORIGIN'.length)
    if (word === '-X') command.method = next
    if (word === '-d') command.body = next
    if (word !== '-H') continue
    const [name, value] = [next.slice(0, next.indexOf(': ')), next.slice(next.indexOf(': ') + 2)]
    command.headers[name.toLowerCase()] = value
  }
  return command
}

const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, text]) => text!.replaceAll('\\\n', ' ').trimEnd().split('\n'))
  .map(commandOf)

let motor: Motor
/** The real values of names on the page. */
const named = new Map<string, string>()

/** Runs the next command, with `tag` in place of the ETag on the page. */
async function typed<T>(at: number, tag = ''): Promise<Answer<T>> {
  const { method, path, headers, body } = commands[at]!
  const real = (text: string): string =>
    [...named].reduce((all, [name, value]) => all.replaceAll(name, value), text)
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /^"Zk3/.test(value) ? tag : real(value)]),
  )
  return await callApi<T>(method, real(path), { headers: sent, ...(body !== undefined && { body }) })
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('page', motorWithoutPapers())
  const issued = (await motor.createPolicy()).body.locator
  await callOk('POST', `/policy/${issued}/issue`, { token: motor.token })
  const { locator } = (await motor.createPolicy({ finalize: false })).body
  const [quote] = await callOk<{ locator: string }[]>('GET', `/policies/${locator}/quotes`, {
    token: motor.token,
  })
  named.set('$TOKEN', motor.token).set('100000064', issued).set('100000128', quote!.locator)
})

it('the first command returns 304 while the record is unchanged', async () => {
  expect(commands).toHaveLength(4)
  const { headers } = await callApi('GET', `/policy/${named.get('100000064')}`, { token: motor.token })
  const { status, body } = await typed(0, headers.get('etag')!)
  expect([status, body]).toEqual([304, ''])
})

it('the second command returns 412 with the current ETag after another client has written', async () => {
  const path = `/quotes/${named.get('100000128')}`
  const { headers } = await callApi('GET', path, { token: motor.token })
  const written = await callApi('PATCH', path, { token: motor.token, body: { name: 'Plain' } })
  expect(written.status).toBe(200)
  const { status, body } = await typed<Record<string, unknown>>(1, headers.get('etag')!)
  expect(status, JSON.stringify(body)).toBe(412)
  const said = JSON.parse(/^\{"httpStatus": 412.*\}$/m.exec(page)![0])
  expect(Object.keys(said).filter(name => !(name in body))).toEqual([])
  expect([status, body.code, body.currentETag]).toEqual([412, said.code, written.headers.get('etag')])
})

it('the last two commands preview and issue a policy; a repeat returns the original response', async () => {
  const { status, body } = await typed<{ previewToken: string }>(2)
  expect(status).toBe(200)
  named.set('$PREVIEW_TOKEN', body.previewToken)
  const made = await typed<{ state: string }>(3)
  expect([made.status, made.body.state]).toEqual([200, 'issued'])
  const again = await typed<{ state: string }>(3)
  expect([again.status, again.body]).toEqual([200, made.body])
})
