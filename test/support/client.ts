// The typed client, calling the service under test as `callApi` does.
import { exports } from 'cloudflare:workers'
import { type BinderyClient, type ClientOptions, createClient } from '../../client/index.ts'
import { noteCall } from './emission/calls.ts'

export const clientOf = (options: Omit<ClientOptions, 'baseUrl' | 'fetch'>): BinderyClient =>
  createClient({
    ...options,
    baseUrl: 'http://bindery.test',
    fetch: async request => {
      const response = await exports.default.fetch(request)
      noteCall(request.method, new URL(request.url).pathname, response.headers.get('x-request-id'))
      return response
    },
  })
