// `npm run tenant -- create NAME [--type test|production] | list | delete NAME | quota NAME
// databaseBytes=N…`. A tenant takes a free database of
// the pool; the Worker is never deployed for it.
import { parseArgs } from 'node:util'
import { readQuotas } from '../src/tenants/quotas.ts'
import { createTenant, deleteTenant, listTenants, setQuotas } from '../src/tenants/service.ts'
import { openStores } from './databases.ts'
import { readSecrets, readSettings } from './settings.ts'

const USAGE = `npm run tenant -- create NAME [--type test|production]
npm run tenant -- list
npm run tenant -- delete NAME
npm run tenant -- quota NAME [databaseBytes=N] [configurationBytes=N]

With --remote it is the provider's tenants, else those of this machine (BINDERY_DATA).`

const isType = (type: string): type is 'test' | 'production' => type === 'test' || type === 'production'

async function carryOut(
  env: Env,
  [command, name, ...rest]: readonly (string | undefined)[],
  type: string,
): Promise<void> {
  if (command === 'quota' && name !== undefined) {
    const quotas = readQuotas(rest.map(String))
    await setQuotas(env, name, quotas)
    console.log(`tenant: ${name} has the quotas ${JSON.stringify(quotas)}, and else those of everybody`)
    return
  }
  if (rest.length > 0) throw new Error(`It is used so:\n\n${USAGE}`)
  if (command === 'create' && name !== undefined && isType(type)) {
    const tenant = await createTenant(env, { name, type })
    console.log(
      `tenant: ${tenant.name} (${tenant.type}) answers at ${tenant.hostName}; locator ${tenant.locator}`,
    )
  } else if (command === 'delete' && name !== undefined) {
    await deleteTenant(env, name)
    console.log(`tenant: ${name} is deleted; its database is wiped and then free again`)
  } else if (command === 'list' && name === undefined) {
    for (const { name, type, hostName, locator } of await listTenants(env))
      console.log([name, type, hostName, locator].join('\t'))
  } else throw new Error(`It is used so:\n\n${USAGE}`)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { type: { type: 'string', default: 'test' }, remote: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const { dataFolder } = readSettings(process.env, readSecrets())
  const stores = await openStores(dataFolder, { remote: values.remote })
  try {
    await carryOut(stores.env, positionals, values.type)
  } finally {
    await stores.close()
  }
}

await main().catch((error: unknown) => {
  console.error(`tenant: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
})
