// Calls of the running service, as any client makes them.

/** An answer that is not a 2xx. */
export class ApiFailure extends Error {
  readonly status: number

  constructor(call: string, status: number, body: string) {
    super(`${call} answered ${status}: ${body.slice(0, 2_000)}`)
    this.name = 'ApiFailure'
    this.status = status
  }
}

export type ApiClient = {
  /** What the calls are signed in with; empty for none. */
  token: string
  /** The parsed body of a 2xx answer; throws an ApiFailure for any other. A FormData or a Blob goes as it is. */
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

/** A client with the token of that account: a tenant's with `hostName`, else the administration account's. */
export async function signIn(origin: string, credentials: Credentials): Promise<ApiClient> {
  const { authorizationToken } = await apiClient(origin).call<{ authorizationToken: string }>(
    'POST',
    '/account/authenticate',
    credentials,
  )
  return apiClient(origin, authorizationToken)
}
