// The hosts that a secret may be sent to. A secret that names none goes to every address that may be called.
import { Refusal } from '../../kernel/errors.ts'

const MOST_HOSTS = 50

const LABEL = '[a-z\\d]([a-z\\d-]{0,61}[a-z\\d])?'
const HOST = new RegExp(`^(\\*\\.)?${LABEL}(\\.${LABEL})*$|^\\[[\\da-f:.]+\\]$`)

/** The hosts in lower case, each once; refuses (400) what is no host. */
export function checkedHosts(wanted: readonly string[]): string[] {
  const hosts = normalHosts(wanted)
  const problem = hostsProblem(hosts)
  if (problem !== undefined) throw new Refusal('invalidRequest', `'allowedHosts' has ${problem}.`)
  return hosts
}

/** The hosts in lower case, each once. */
export const normalHosts = (wanted: readonly string[]): string[] => [
  ...new Set(wanted.map(host => host.trim().toLowerCase().replace(/\.$/, ''))),
]

/** What the list has that it must not, and what to do; undefined for hosts. */
export function hostsProblem(hosts: readonly string[]): string | undefined {
  const wrong = hosts.filter(host => host.length > 253 || !HOST.test(host))
  if (wrong.length > 0)
    return `${wrong
      .slice(0, 5)
      .map(host => `'${host.slice(0, 80).toWellFormed()}'`)
      .join(', ')}: write host names without scheme, port and path, or *.example.com for every name below`
  return hosts.length > MOST_HOSTS ? `${hosts.length} hosts, more than ${MOST_HOSTS}` : undefined
}

/** Whether a secret with these hosts may be sent to the address. `*.example.com` is every name below example.com. */
export function maySendTo(allowedHosts: readonly string[] | undefined, url: string): boolean {
  if (allowedHosts === undefined) return true
  const host = new URL(url).hostname.replace(/\.+$/, '')
  return allowedHosts.some(one => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one))
}
