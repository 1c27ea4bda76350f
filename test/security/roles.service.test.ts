// Roles that a configuration defines, through HTTP: what a sign-in gives, what a deploy of others changes, what is refused.
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import {
  type ArchiveFiles,
  archiveOf,
  type DeployAnswer,
  deployForm,
  motorWithoutPapers,
} from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'

const files = (roles: unknown, users?: unknown): ArchiveFiles => ({
  ...motorWithoutPapers(),
  'security/roles.json': JSON.stringify(roles),
  ...(users !== undefined && { 'security/test_users.json': JSON.stringify(users) }),
})

const user = (username: string, role: string) => ({ username, password: 'password', roles: [role] })
const USERS = [user('alice.agent', 'agent'), user('rita.reader', 'read-only'), user('anna.admin', 'admin')]

const FIRST = {
  agent: { displayName: 'Agent', permissions: ['policyholders.*', 'policies.read', 'policies.list'] },
  'read-only': { permissions: ['policies.read'] },
  admin: 'Administrator',
}

let motor: Motor

const deploy = async (roles: unknown): Promise<DeployAnswer> =>
  callOk<DeployAnswer>('POST', '/configuration/deployTest', {
    token: await administrator(),
    body: deployForm(archiveOf(files(roles, USERS)), { tenantNameSuffix: 'roles' }),
  })

const permissionsOf = async (token: string): Promise<string[]> =>
  (await callOk<{ permissions: string[] }>('GET', '/auth/permissions', { token })).permissions

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('roles', files(FIRST, USERS))
})

describe('a role with permissions', () => {
  it('is what its users may, and nothing else', async () => {
    expect(await permissionsOf(motor.token)).toEqual([
      'policies.read',
      'policies.list',
      'policyholders.read',
      'policyholders.list',
      'policyholders.write',
      'policyholders.overwrite',
    ])
    await motor.newPolicyholder()
    const refused = await motor.createPolicy()
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { message: expect.stringContaining('policies.write') },
    ])
  })

  it('that names an account type is what that type may', async () => {
    expect(await permissionsOf(await motor.signIn('rita.reader'))).toEqual(['policies.read'])
    expect(await permissionsOf(await motor.signIn('anna.admin'))).toContain('audit.list')
  })

  it('holds after the token is renewed', async () => {
    const { authorizationToken } = await callOk<{ authorizationToken: string }>(
      'POST',
      '/account/renewAuthentication',
      { token: motor.token },
    )
    expect(await permissionsOf(authorizationToken)).toEqual(await permissionsOf(motor.token))
  })
})

describe('a deploy', () => {
  it('with permissions that do not exist is refused, each by its name and place', async () => {
    const before = await permissionsOf(motor.token)
    const answer = await deploy({
      agent: { permissions: ['policies.read', 'policies.fly', 'flights.*'] },
      chief: { permissions: ['deployments.deploy'] },
    })
    expect(answer.success).toBe(false)
    expect(answer.logfile.match(/unknownPermission/g)).toHaveLength(3)
    expect(answer.logfile).toMatch(/ERROR security\/roles\.json:\d+:\d+ unknownPermission .*'policies\.fly'/)
    expect(answer.logfile).toContain("'flights.*'")
    expect(answer.logfile).toMatch(/'deployments\.deploy', which only administration accounts hold/)
    expect(await permissionsOf(motor.token)).toEqual(before)
  })

  it('with the same roles leaves tokens as they are, and with others ends them', async () => {
    const before = motor.token
    expect((await deploy(FIRST)).success).toBe(true)
    expect((await callApi('GET', '/auth/permissions', { token: before })).status).toBe(200)
    const more = { ...FIRST, agent: { permissions: ['quotes.read'] } }
    expect((await deploy(more)).success).toBe(true)
    expect((await callApi('GET', '/auth/permissions', { token: before })).status).toBe(401)
    expect(await permissionsOf(await motor.signIn('alice.agent'))).toEqual(['quotes.read'])
    expect((await deploy({ agent: 'Agent', 'read-only': 'Reader', admin: 'Admin' })).success).toBe(true)
    expect(await permissionsOf(await motor.signIn('alice.agent'))).toContain('policies.issue')
  })
})
