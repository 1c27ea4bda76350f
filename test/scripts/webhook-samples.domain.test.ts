// Compares the samples of docs/webhooks.md with what the service signs and sends.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { newSecret, signatureHeaders } from '../../src/platform/outbound/signature.ts'
import { WebhookEvent } from '../../src/servicing/events/stream/contract.ts'
import { dataContract } from '../../src/servicing/events/stream/notifications.ts'
import { stepsOf, writeStep } from '../support/tutorial.ts'

const page = readFileSync('docs/webhooks.md', 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'bindery-webhooks-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Delivery = { readonly headers: Record<string, string>; readonly body: string; readonly secret: string }

const body = JSON.stringify({ id: 'e1', type: 'policy.issue', data: { name: 'Zoë' } })
const secret = newSecret()
const now = Date.now() as Instant
const endpoint = { hmacEnabled: true }

const signed = (secrets: string[], at: Instant = now): Record<string, string> => {
  const [first, ...earlier] = secrets
  const earlierSecrets = earlier.map(one => ({ secret: one, until: (at + 1) as Instant }))
  return signatureHeaders({ ...endpoint, secret: first!, earlierSecrets }, 'e1', at, body)
}
const { 'webhook-signature': _, ...unsigned } = signed([secret])

const GENUINE: Record<string, Delivery> = {
  'as it was sent': { headers: signed([secret]), body, secret },
  'signed by a new secret and by this one': { headers: signed([newSecret(), secret]), body, secret },
}
const FORGED: Record<string, Delivery> = {
  'another body': { headers: signed([secret]), body: body.replace('Zoë', 'Zoe'), secret },
  'another secret': { headers: signed([newSecret()]), body, secret },
  'another event': { headers: { ...signed([secret]), 'webhook-id': 'e2' }, body, secret },
  'sent an hour ago': { headers: signed([secret], (now - 3_600_000) as Instant), body, secret },
  'another time': { headers: { ...signed([secret]), 'webhook-timestamp': '1' }, body, secret },
  'no signature': { headers: unsigned, body, secret },
  'no headers': { headers: {}, body, secret },
}
const deliveries = { ...GENUINE, ...FORGED }
const expected = Object.fromEntries(Object.keys(deliveries).map(name => [name, name in GENUINE]))

const has = (program: string, ...words: string[]): boolean => spawnSync(program, words).status === 0

/** Runs a program in the folder of the samples. Parses its output as JSON. */
function printed(program: string, words: string[], input = ''): unknown {
  const { stdout, stderr, status } = spawnSync(program, words, { cwd: folder, input, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

beforeAll(() => {
  for (const step of stepsOf(page)) if (step.kind === 'file') writeStep(folder, step)
})

describe('The samples accept genuine deliveries and reject forged ones', () => {
  test('in TypeScript', async () => {
    const { isGenuine } = await import(join(folder, 'verify.ts'))
    const found = Object.entries(deliveries).map(([name, one]) => [
      name,
      isGenuine(one.headers, one.body, one.secret),
    ])
    expect(Object.fromEntries(found)).toEqual(expected)
  })

  test.skipIf(!has('python3', '--version'))('in Python', () => {
    const program = [
      'import json, sys',
      'from verify import is_genuine',
      'all = json.load(sys.stdin)',
      'found = {n: is_genuine(d["headers"], d["body"].encode(), d["secret"]) for n, d in all.items()}',
      'print(json.dumps(found))',
    ]
    expect(printed('python3', ['-c', program.join('\n')], JSON.stringify(deliveries))).toEqual(expected)
  })

  test.skipIf(!has('javac', '-version'))('in Java', () => {
    const calls = Object.entries(deliveries).map(([name, one]) => {
      const headers = Object.entries(one.headers).flatMap(pair => pair.map(text => JSON.stringify(text)))
      const call = `Webhooks.isGenuine(Map.of(${headers}), ${JSON.stringify(one.body)}, ${JSON.stringify(one.secret)})`
      return `found.add("\\"${name}\\": " + ${call});`
    })
    const driver = [
      'import java.util.*;',
      'class Driver { public static void main(String[] words) throws Exception {',
      'List<String> found = new ArrayList<>();',
      ...calls,
      'System.out.println("{" + String.join(", ", found) + "}"); } }',
    ]
    writeFileSync(join(folder, 'Driver.java'), driver.join('\n'))
    const compiled = spawnSync('javac', ['-encoding', 'UTF-8', 'Driver.java', 'Webhooks.java'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(compiled.stderr).toBe('')
    expect(printed('java', ['-cp', '.', 'Driver'])).toEqual(expected)
  })
})

test('the event on the page matches its contract', () => {
  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text!))
  const sample = blocks.find(one => one.type === 'policy.issue')
  const contract = WebhookEvent.extend({ data: dataContract('policy.issue') }).strict()
  expect(contract.safeParse(sample).error).toBeUndefined()
  expect(sample.id).toBe(sample.locator)
})
