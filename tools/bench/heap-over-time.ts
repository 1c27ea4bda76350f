// `npm run bench -- --heap`: does the memory use of the serving isolate stay constant over 100,000 requests?
import { join } from 'node:path'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { median } from './figures.ts'
import { startWatched } from './heap.ts'
import { type Call, drive } from './load.ts'
import { OPERATIONS } from './operations.ts'
import { CONCURRENCY, type Sizes } from './options.ts'
import { emptyStock, serviceSide, subjects } from './sides.ts'
import { fill, prepareStores } from './world.ts'

/** Measurements of the heap, each after the same number of requests. */
const LOOKS = 20
const FEWEST_LOOKS = 12
export const HEAP_GOAL = 1.1

/** The operations, in turn: reads, and operations that create records that nothing reads again. Every kind of code occurs. */
const MIX = [
  'get policy',
  'get policyholder',
  'get price',
  'table look-up',
  'create policyholder',
  'get policyholder',
  'event stream page',
  'table look-up',
  'get price',
  'get policyholder',
  'get policy',
  'table look-up',
  'constraint evaluation',
  'get policyholder',
  'get price',
  'table look-up',
  'create policyholder',
  'get policyholder',
  'get price',
  'create and finalize policy',
] as const

export type HeapFigures = {
  requests: number
  /** Megabytes in use after a collection, at each measurement to which the inspector responded. */
  heap: number[]
  /** Median of the last four measurements, divided by the median of the third to the sixth. */
  growth: number
}

export async function measureHeap(
  folder: string,
  { heapRequests }: Sizes,
  say: (line: string) => void,
): Promise<HeapFigures> {
  const dataFolder = join(folder, 'service')
  const administrator = await prepareStores(dataFolder)
  const { service, usedMegabytes } = await startWatched({
    config: CONFIG_FILE,
    script: 'src/worker.ts',
    dataFolder,
  })
  const { world, records } = await fill(service.origin, administrator)
  const side = serviceSide(service, world, records)
  const operations = MIX.map(name => OPERATIONS.find(one => one.name === name)!)
  const sources = await Promise.all(
    operations.map(operation => subjects(side, operation, emptyStock(), heapRequests)),
  )
  function* some(requests: number): Generator<Call, void> {
    for (let at = 0; at < requests; at += 1) {
      const of = at % MIX.length
      yield side.call(operations[of]!, sources[of]!.next().value!)
    }
  }
  const heap: number[] = []
  const each = Math.ceil(heapRequests / LOOKS)
  for (let look = 1; look <= LOOKS; look += 1) {
    const limits = { atOnce: CONCURRENCY, longestMs: Number.POSITIVE_INFINITY }
    await drive(side.connection, some(each), limits, () => undefined)
    const used = await usedMegabytes()
    if (used !== undefined) heap.push(used)
    say(
      `${look * each} requests: ${used === undefined ? 'the inspector does not respond' : `${used.toFixed(1)} MB`}`,
    )
  }
  side.connection.close()
  await service.stop()
  if (heap.length < FEWEST_LOOKS) throw new Error(`The inspector responded only ${heap.length} times.`)
  return { requests: LOOKS * each, heap, growth: median(heap.slice(-4)) / median(heap.slice(2, 6)) }
}

/** The measurements with a verdict. */
export function heapLine({ requests, heap, growth }: HeapFigures): string {
  const looks = heap.map(used => used.toFixed(1)).join(' ')
  const verdict = growth <= HEAP_GOAL ? 'flat' : 'growing'
  return `heap after a collection over ${requests} requests: ${looks} MB; ratio of the last four to the third to sixth: ${growth.toFixed(2)} (goal <= ${HEAP_GOAL}): ${verdict}`
}
