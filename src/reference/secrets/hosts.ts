// The hosts that a secret may be sent to. A secret that names none goes to every address that may be called.
import { Refusal } from '../../kernel/errors.ts'
import { hostsProblem, normalHosts } from '../../product/resources.ts'

/** The hosts in lower case, each once; refuses (400) what is no host. */
export function checkedHosts(wanted: readonly string[]): string[] {
  const hosts = normalHosts(wanted)
  const problem = hostsProblem(hosts)
  if (problem !== undefined) throw new Refusal('invalidRequest', `'allowedHosts' has ${problem}.`)
  return hosts
}

/** Whether a secret with these hosts may be sent to the address. `*.example.com` is every name below example.com. */
export function maySendTo(allowedHosts: readonly string[] | undefined, url: string): boolean {
  if (allowedHosts === undefined) return true
  const host = new URL(url).hostname.replace(/\.+$/, '')
  return allowedHosts.some(one => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one))
}
