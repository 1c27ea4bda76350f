// The typed client. It calls the service under test as `callApi` does.
import { exports } from 'cloudflare:workers'
import { type BinderyClient, type ClientOptions, createClient } from '../../client/index.ts'
import { noteCall } from './emission/calls.ts'
import { noteExchange } from './exchanges/note.ts'

export const clientOf = (options: Omit<ClientOptions, 'baseUrl' | 'fetch'>): BinderyClient =>
  createClient({
    ...options,
    baseUrl: 'http://bindery.test',
    fetch: async request => {
      const sent = await request.clone().text()
      const response = await exports.default.fetch(request)
      await noteAnswer(request, sent, response.clone())
      noteCall(request.method, new URL(request.url).pathname, response.headers.get('x-request-id'))
      return response
    },
  })

/** Notes the exchange. Skips requests whose body is not a JSON object. */
async function noteAnswer({ method, url }: Request, sent: string, response: Response): Promise<void> {
  const { pathname, search } = new URL(url)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  if (sent !== '' && !sent.startsWith('{')) return
  noteExchange({
    method,
    path: pathname + search,
    body: sent === '' ? undefined : JSON.parse(sent),
    status: response.status,
    answer: isJson ? JSON.parse(text) : text,
  })
}
