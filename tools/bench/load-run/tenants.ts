// Creates tenants with the motor example and its documents, each with a webhook for all of its events.
import { type ApiClient, type Credentials, signIn } from '../../../scripts/api-client.ts'
import { testUsers, zipOf } from '../../../scripts/example.ts'
import { eventTypes } from '../../../src/platform/events/catalogue.ts'

export type LoadTenant = {
  readonly name: string
  /** The token of an agent. */
  readonly token: string
  /** The path at the receiver of events. */
  readonly path: string
  /** Locators of the policies that users have issued. Every user reads any of them. */
  readonly policies: string[]
}

/** All event types, by the first part of their names. */
const ALL_EVENTS = [...new Set(eventTypes.map(type => `${type.split('.')[0]}.*`))]

const CONFIGURATION = 'examples/motor/configuration'

export async function makeTenants(
  origin: string,
  administrator: Credentials,
  count: number,
  receiverOrigin: string,
): Promise<LoadTenant[]> {
  const administration = await signIn(origin, administrator)
  const archive = zipOf(CONFIGURATION)
  const tenants: LoadTenant[] = []
  for (let at = 1; at <= count; at += 1)
    tenants.push(await makeTenant(origin, administration, archive, at, receiverOrigin))
  return tenants
}

async function makeTenant(
  origin: string,
  administration: ApiClient,
  archive: Uint8Array<ArrayBuffer>,
  at: number,
  receiverOrigin: string,
): Promise<LoadTenant> {
  const form = new FormData()
  form.set('tenantNameSuffix', `load-${at}`)
  form.set('zipFile', new Blob([archive], { type: 'application/zip' }), 'motor.zip')
  const { hostname, tenantName, tenantLocator, success, logfile } = await administration.call<{
    hostname: string
    tenantName: string
    tenantLocator: string
    success: boolean
    logfile: string
  }>('POST', '/configuration/deployTest', form)
  if (!success) throw new Error(`${CONFIGURATION} was rejected:\n${logfile}`)
  const as = (role: string): Promise<ApiClient> => {
    const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
    return signIn(origin, { username, password, hostName: hostname })
  }
  const path = `/${at}`
  await (await as('admin')).call('POST', `/event/${tenantLocator}/webhooks`, {
    name: 'load',
    enabled: true,
    endpoint: { url: `${receiverOrigin}${path}`, headers: {} },
    eventTypes: ALL_EVENTS,
  })
  return { name: tenantName, token: (await as('agent')).token, path, policies: [] }
}
