import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { controlId, needsOf } from '../../../scripts/deployment/needs.ts'
import { provider } from '../../../scripts/deployment/provider.ts'
import { carryOut, listSteps, type Step } from '../../../scripts/deployment/steps.ts'
import type { Environment } from '../../../scripts/environments.ts'
import { environmentConfig } from '../../../scripts/write-config.ts'

const config = readFileSync('wrangler.toml', 'utf8')

describe('The resources of a deployment', () => {
  test('are all buckets and queues of wrangler.toml, and the dead-letter queues', () => {
    expect(needsOf(config)).toEqual({
      buckets: [
        { name: 'bindery-files', jurisdiction: undefined },
        { name: 'bindery-files-eu', jurisdiction: 'eu' },
      ],
      queues: [
        'bindery-announcements',
        'bindery-documents',
        'bindery-upgrades',
        'bindery-announcements-dead',
        'bindery-documents-dead',
        'bindery-upgrades-dead',
      ],
    })
  })

  test('carry the name of the environment, whose control database has the id that the provider assigned', () => {
    const id = '1b2c3d4e-0000-4000-9000-aabbccddeeff'
    const eu1: Environment = { name: 'eu1', domain: 'example.com', place: 'weur', controlId: id }
    const made = environmentConfig(config, eu1)
    expect(controlId(made)).toBe(id)
    expect(controlId(environmentConfig(config, { ...eu1, controlId: undefined }))).toBe(controlId(config))
    expect(needsOf(made)).toEqual({
      buckets: [
        { name: 'bindery-eu1-files', jurisdiction: undefined },
        { name: 'bindery-eu1-files-eu', jurisdiction: 'eu' },
      ],
      queues: [
        'bindery-eu1-announcements',
        'bindery-eu1-documents',
        'bindery-eu1-upgrades',
        'bindery-eu1-announcements-dead',
        'bindery-eu1-documents-dead',
        'bindery-eu1-upgrades-dead',
      ],
    })
    expect(made).toMatch(/^name = "bindery-eu1"$/m)
    expect(made.replaceAll('bindery-eu1', '')).not.toMatch(/^[a-z_]+ = "bindery/m)
  })
})

/** A provider that resembles the real tool only in its lists. */
function made() {
  const buckets = new Map<string, Set<string>>()
  const queues: string[] = Array.from({ length: 12 }, (_, at) => `other-${at}`)
  const commands: string[] = []
  const border = (options: string[]) => (options[0] === '--jurisdiction' ? options[1]! : '')
  const tool = async (...command: string[]): Promise<string> => {
    commands.push(command.join(' '))
    const [what, verb, ...rest] = command
    if (what === 'r2' && rest[0] === 'list')
      return [...(buckets.get(border(rest.slice(1))) ?? [])].map(name => `name:  ${name}`).join('\n')
    if (what === 'r2') {
      const within = border(rest.slice(2))
      buckets.set(within, new Set([...(buckets.get(within) ?? []), rest[1]!]))
    } else if (what === 'queues' && verb === 'list') {
      const page = Number(rest[1])
      return queues
        .slice((page - 1) * 10, page * 10)
        .map(name => `│ ${'0'.repeat(32)} │ ${name} │ now │`)
        .join('\n')
    } else if (what === 'queues') queues.push(rest[0]!)
    else throw new Error('not signed in')
    return ''
  }
  return { tool, commands }
}

describe('provider', () => {
  test('creates what is missing once, and reads every page of the lists', async () => {
    const { tool, commands } = made()
    const { hasBucket, makeBucket, hasQueue, makeQueue } = provider(tool)
    const european = { name: 'bindery-files', jurisdiction: 'eu' }
    const anywhere = { name: 'bindery-files', jurisdiction: undefined }
    await makeBucket(european)
    expect([await hasBucket(european), await hasBucket(anywhere)]).toEqual([true, false])
    expect(await hasQueue('bindery-announcements')).toBe(false)
    await makeQueue('bindery-announcements')
    expect(await hasQueue('bindery-announcements')).toBe(true)
    expect(await hasQueue('bindery')).toBe(false)
    expect(commands).toContain('r2 bucket create bindery-files --jurisdiction eu')
    expect(commands).toContain('queues list --page 2')
  })

  test('reports whether the tool is signed in', async () => {
    expect(await provider(made().tool).isSignedIn()).toBe(false)
    expect(await provider(async () => '{"loggedIn":true}').isSignedIn()).toBe(true)
  })
})

describe('The steps of a deployment', () => {
  function story(failing?: string) {
    const there = new Set<string>()
    const done: string[] = []
    const step = (name: string, always = false): Step => ({
      name,
      ...(!always && { isDone: async () => there.has(name) }),
      async carryOut() {
        if (name === failing) throw new Error('the provider is tired')
        there.add(name)
        done.push(name)
      },
    })
    return { steps: [step('bucket'), step('queue'), step('Worker', true)], done, there }
  }

  test('run in order, and a second run creates nothing again', async () => {
    const { steps, done } = story()
    const said: string[] = []
    await carryOut(steps, line => said.push(line))
    await carryOut(steps, line => said.push(line))
    expect(done).toEqual(['bucket', 'queue', 'Worker', 'Worker'])
    expect(said.slice(3)).toEqual(['bucket: exists', 'queue: exists', 'Worker: done'])
  })

  test('stop at the first step that fails, and name it', async () => {
    const { steps, done } = story('queue')
    await expect(carryOut(steps, () => undefined)).rejects.toThrow('queue: the provider is tired')
    expect(done).toEqual(['bucket'])
  })

  test('are only listed in a dry run', async () => {
    const { steps, done, there } = story()
    there.add('bucket')
    const said: string[] = []
    await listSteps(steps, line => said.push(line))
    expect(said).toEqual(['bucket: exists', 'queue: would be created', 'Worker: would be done'])
    expect(done).toEqual([])
  })
})
