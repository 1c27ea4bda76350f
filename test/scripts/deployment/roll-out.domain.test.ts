import { describe, expect, test } from 'vitest'
import { rollOut } from '../../../scripts/deployment/roll-out.ts'

const FORMER = '11111111-0000-4000-8000-000000000001'
const FRESH = '22222222-0000-4000-8000-000000000002'

/** A tool for a Worker with these shares of requests. `splits` records the shares that it is given. */
function workerWith(versions: { version_id: string; percentage: number }[]) {
  const splits: string[] = []
  const tool = async (...command: string[]): Promise<string> => {
    const [what, verb, ...rest] = command
    if (`${what} ${verb}` === 'deployments status') return JSON.stringify({ versions })
    if (`${what} ${verb}` === 'versions upload') return `Uploaded bindery-eu1\nWorker Version ID: ${FRESH}\n`
    splits.push(rest.filter(word => word.includes('@')).join(' '))
    return ''
  }
  return { tool, splits }
}

const options = { secretsFile: 'secrets.json', say: () => undefined, pauseMs: 0 }

describe('A gradual deployment', () => {
  test('moves 10%, 50% and then 100% of the requests to the new code', async () => {
    const { tool, splits } = workerWith([{ version_id: FORMER, percentage: 100 }])
    await rollOut(tool, { ...options, isReady: async () => true })
    expect(splits).toEqual([`${FRESH}@10 ${FORMER}@90`, `${FRESH}@50 ${FORMER}@50`, `${FRESH}@100`])
  })

  test('returns all requests to the former code when the new code does not become ready', async () => {
    const { tool, splits } = workerWith([{ version_id: FORMER, percentage: 100 }])
    let looks = 0
    const isReady = async (): Promise<boolean> => {
      looks += 1
      return looks < 15
    }
    await expect(rollOut(tool, { ...options, isReady })).rejects.toThrow(
      `version ${FRESH} did not respond to /ready. Version ${FORMER} gets all requests again.`,
    )
    expect(splits).toEqual([`${FRESH}@10 ${FORMER}@90`, `${FRESH}@50 ${FORMER}@50`, `${FORMER}@100`])
  })

  test('does not start when nothing is deployed, or when another one stopped halfway', async () => {
    const none = workerWith([])
    await expect(rollOut(none.tool, { ...options, isReady: async () => true })).rejects.toThrow(
      'Deploy without --gradual first',
    )
    const half = workerWith([
      { version_id: FORMER, percentage: 90 },
      { version_id: FRESH, percentage: 10 },
    ])
    await expect(rollOut(half.tool, { ...options, isReady: async () => true })).rejects.toThrow(
      `requests are split between ${FORMER} (90 %) and ${FRESH} (10 %)`,
    )
    expect([...none.splits, ...half.splits]).toEqual([])
  })
})
