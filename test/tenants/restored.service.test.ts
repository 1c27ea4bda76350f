// A tenant that was restored, through HTTP: who comes in.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { rememberTenant, restoreTo } from '../support/time-travel.ts'

beforeAll(() => prepareDatabases({ tenants: 8 }))

let motor: Motor
let admin: string
let made = 0

beforeEach(async () => {
  made += 1
  motor = await motorTenant(`restored${made}`)
  admin = await motor.signIn('anna.admin')
})

const FORMER = 'Rhabarber-7-Kisten'
const LATER = 'Stachelbeere-8-Kisten'

const signIn = async (username: string, password: string): Promise<string> =>
  (
    await callOk<{ authorizationToken: string }>('POST', '/account/authenticate', {
      body: { username, password, hostName: motor.hostname },
    })
  ).authorizationToken
const ping = async (token: string): Promise<number> =>
  (await callApi('GET', '/v1/ping/authorized', { token })).status
const addCarla = async (): Promise<string> =>
  (
    await callOk<{ id: string }>('POST', '/account/v1/account', {
      token: admin,
      body: {
        ...{ name: 'Carla Clausen', email: 'carla@example.com', username: 'carla', password: FORMER },
        type: 'account.tenant.employee',
      },
    })
  ).id
const changePassword = (token: string, oldPassword: string, password: string) =>
  callOk('PATCH', '/account/v1/accounts/password', { token, body: { oldPassword, password } })

describe('accounts of a restored tenant', () => {
  it('sign in with the password of then, also one that was changed a moment before the restore', async () => {
    await addCarla()
    const moment = await rememberTenant(motor.tenantLocator)
    await changePassword(await signIn('carla', FORMER), FORMER, LATER)
    await restoreTo(motor.tenantLocator, moment)
    expect(await ping(await signIn('carla', FORMER))).toBe(200)
  })

  it('do not get back access that is revoked after the restore, by a token of the time that is undone', async () => {
    const carla = await addCarla()
    const moment = await rememberTenant(motor.tenantLocator)
    await changePassword(await signIn('carla', FORMER), FORMER, LATER)
    const undone = await signIn('carla', LATER)
    await restoreTo(motor.tenantLocator, moment)
    await callOk('PATCH', `/account/v1/accounts/${carla}/disable`, { token: admin })
    expect(await ping(undone)).toBe(401)
  })
})
