import { describe, expect, test } from 'vitest'
import { rollOut } from '../../../scripts/deployment/roll-out.ts'

const FORMER = '11111111-0000-4000-8000-000000000001'
const FRESH = '22222222-0000-4000-8000-000000000002'

/** A tool at a Worker whose requests are shared so; `splits` are those that it was told since. */
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

describe('a gradual deployment', () => {
  test('moves a tenth, half and then all of the requests to the new code', async () => {
    const { tool, splits } = workerWith([{ version_id: FORMER, percentage: 100 }])
    await rollOut(tool, { ...options, isReady: async () => true })
    expect(splits).toEqual([`${FRESH}@10 ${FORMER}@90`, `${FRESH}@50 ${FORMER}@50`, `${FRESH}@100`])
  })

  test('gives all requests back to the former code when the new one does not get ready', async () => {
    const { tool, splits } = workerWith([{ version_id: FORMER, percentage: 100 }])
    let looks = 0
    const isReady = async (): Promise<boolean> => {
      looks += 1
      return looks < 15
    }
    await expect(rollOut(tool, { ...options, isReady })).rejects.toThrow(
      `version ${FRESH} did not answer /ready; version ${FORMER} has all requests again.`,
    )
    expect(splits).toEqual([`${FRESH}@10 ${FORMER}@90`, `${FRESH}@50 ${FORMER}@50`, `${FORMER}@100`])
  })

  test('is not begun where nothing is deployed, or where another stopped half-way', async () => {
    const none = workerWith([])
    await expect(rollOut(none.tool, { ...options, isReady: async () => true })).rejects.toThrow(
      'deploy without --gradual first',
    )
    const half = workerWith([
      { version_id: FORMER, percentage: 90 },
      { version_id: FRESH, percentage: 10 },
    ])
    await expect(rollOut(half.tool, { ...options, isReady: async () => true })).rejects.toThrow(
      `requests are shared by ${FORMER} (90 %) and ${FRESH} (10 %)`,
    )
    expect([...none.splits, ...half.splits]).toEqual([])
  })
})
