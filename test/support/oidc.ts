// The client side of oidc-server.ts: an OpenID provider for a test in the Workers runtime.
import { inject } from 'vitest'
import type { Answer, MadeToken, Persons } from './oidc-provider.ts'

export type RemoteProvider = {
  readonly issuer: string
  idToken(subject: string, nonce?: string): Promise<string>
  make(token?: MadeToken): Promise<string>
  changeKeys(): Promise<void>
  setPersons(persons: Persons): Promise<void>
  answer(answers: Readonly<Record<string, Answer>> | 'down'): Promise<void>
  calls(): Promise<Readonly<Record<string, number>>>
}

export async function openProvider(persons: Persons): Promise<RemoteProvider> {
  const call = async <T>(path: string, ...given: unknown[]): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${inject('oidcPort')}/${path}`, {
      method: 'POST',
      body: JSON.stringify(given),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`The provider failed: ${text}`)
    return JSON.parse(text) as T
  }
  const { port, issuer } = await call<{ port: string; issuer: string }>('', persons)
  return {
    issuer,
    idToken: (subject, nonce) => call(`${port}/idToken`, subject, nonce),
    make: (token = {}) => call(`${port}/make`, token),
    changeKeys: () => call(`${port}/changeKeys`),
    setPersons: next => call(`${port}/setPersons`, next),
    answer: next => call(`${port}/answer`, next),
    calls: () => call(`${port}/calls`),
  }
}
