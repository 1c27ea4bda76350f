// Calls the running service as any client does.

/** A response that is not a 2xx. */
export class ApiFailure extends Error {
  readonly status: number

  constructor(call: string, status: number, body: string) {
    super(`${call} responded with ${status}: ${body.slice(0, 2_000)}`)
    this.name = 'ApiFailure'
    this.status = status
  }
}

export type ApiClient = {
  /** The token of the calls. Empty for none. */
  token: string
  /** Returns the parsed body of a 2xx response. Throws an ApiFailure for any other. A FormData or a Blob is sent unchanged. */
  call<Body>(method: string, path: string, body?: unknown): Promise<Body>
}

export function apiClient(origin: string, token = ''): ApiClient {
  return {
    token,
    async call<Body>(method: string, path: string, body?: unknown) {
      const headers = new Headers(token === '' ? {} : { authorization: `Bearer ${token}` })
      if (body !== undefined && !isReady(body)) headers.set('content-type', 'application/json')
      const response = await fetch(`${origin}${path}`, {
        method,
        headers,
        body: sentBody(body),
      })
      const text = await response.text()
      if (!response.ok) throw new ApiFailure(`${method} ${path}`, response.status, text)
      return (text === '' ? undefined : JSON.parse(text)) as Body
    },
  }
}

const isReady = (body: unknown): body is FormData | Blob => body instanceof FormData || body instanceof Blob

function sentBody(body: unknown): FormData | Blob | string | null {
  if (body === undefined) return null
  return isReady(body) ? body : JSON.stringify(body)
}

export type Credentials = { username: string; password: string; hostName?: string }

/** Returns a client with the token of the account: a tenant's account with `hostName`, otherwise the administration account. */
export async function signIn(origin: string, credentials: Credentials): Promise<ApiClient> {
  const { authorizationToken } = await apiClient(origin).call<{ authorizationToken: string }>(
    'POST',
    '/account/authenticate',
    credentials,
  )
  return apiClient(origin, authorizationToken)
}
