// Lines to paste into a shell. Each is independent: it gets the token and creates the records that it needs.

const quoted = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`

/** Extracts the first text of that name from a JSON response, with tools that every system has. */
const property = (name: string): string => `grep -o '"${name}":"[^"]*"' | head -1 | cut -d'"' -f4`

const post = (url: string, body: string, token?: string): string =>
  [
    `curl -s ${url}`,
    ...(token === undefined ? [] : [`-H "Authorization: Bearer ${token}"`]),
    `-H 'Content-Type: application/json'`,
    `-d ${body}`,
  ].join(' ')

export type CurlSubject = {
  origin: string
  credentials: { username: string; password: string; hostName: string }
  policyholder: Record<string, unknown>
  policy: Record<string, unknown>
}

/** Returns three lines: sign in, create a policyholder, and create a policyholder with a policy, which is priced immediately. */
export function curlLines({ origin, credentials, policyholder, policy }: CurlSubject): string[] {
  const signIn = post(`${origin}/account/authenticate`, quoted(credentials))
  const token = `TOKEN=$(${signIn} | ${property('authorizationToken')})`
  const createHolder = post(`${origin}/policyholder/create`, quoted(policyholder), '$TOKEN')
  const holder = `HOLDER=$(${createHolder} | ${property('locator')})`
  // The locator of the policyholder is inserted between two quoted halves of the body.
  const body = quoted({ policyholderLocator: '@', ...policy }).replace('"@"', `"'$HOLDER'"`)
  return [
    signIn,
    `${token}; ${createHolder}`,
    `${token}; ${holder}; ${post(`${origin}/policy`, body, '$TOKEN')}`,
  ]
}
